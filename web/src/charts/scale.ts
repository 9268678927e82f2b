import type { EChartsCoreOption } from "echarts/core";
import type { ScaleFit, ScalePoint, ScaleReport } from "../lib/document";
import { interval, number, percent, tick } from "../lib/format";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";
import { uprightWhiskers } from "./sweep";

const LEFT = 72;
const RIGHT = 24;
const LINE = "path://M0 0h18v2h-18z";
const LINEAR = "linear";
/** So far above the highest figure the linear line goes. */
const ABOVE = 1.1;

/** Medians with intervals and every trial; the fitted law with its band, no further than was measured. */
export function scaleChart(scale: ScaleReport, { colours }: Canvas): EChartsCoreOption {
  const { points, fit } = scale;
  return {
    textStyle: textStyle(colours),
    grid: { left: LEFT, right: RIGHT, top: 40, bottom: 44 },
    legend: {
      top: 0,
      left: 0,
      itemWidth: 18,
      itemHeight: 8,
      textStyle: { color: colours.text },
      data: ["median of the trials", ...(fit ? [{ name: "fitted law", icon: LINE }] : []), { name: LINEAR, icon: LINE }],
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => tip(scale, (params as { value: [number] }).value[0]),
    },
    xAxis: nAxis(scale, colours),
    yAxis: { ...valueAxis(colours, scale.unit), nameGap: 54, min: 0 },
    series: [
      ...(fit ? law(fit, scale, colours) : []),
      linear(linearLine(scale), colours),
      {
        type: "scatter",
        silent: true,
        symbolSize: 4,
        z: 5,
        itemStyle: { color: colours.text, opacity: 0.6 },
        data: points.flatMap(({ n, values }) => values.map((value) => [n, value])),
      },
      uprightWhiskers(
        points.map(({ n, low, high }) => [n, low, high]),
        colours.series[0],
      ),
      {
        name: "median of the trials",
        type: "scatter",
        symbol: "circle",
        symbolSize: 10,
        color: colours.series[0],
        z: 4,
        data: points.map(({ n, median }) => [n, median]),
      },
    ],
  };
}

/** By how much the medians lie off the law, on the same axis as the law. */
export function residualsChart(scale: ScaleReport, { colours }: Canvas): EChartsCoreOption {
  const shown = scale.points.filter((point) => point.residual_percent !== null);
  return {
    textStyle: textStyle(colours),
    grid: { left: LEFT, right: RIGHT, top: 12, bottom: 44 },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => tip(scale, (params as { value: [number] }).value[0]),
    },
    xAxis: nAxis(scale, colours),
    yAxis: { ...valueAxis(colours, "%"), nameGap: 54, splitNumber: 3 },
    series: [
      {
        type: "custom",
        silent: true,
        data: shown.map(({ n, residual_percent }) => [n, residual_percent]),
        encode: { x: 0, y: 1 },
        renderItem: (
          _params: unknown,
          api: { value: (index: number) => number; coord: (point: number[]) => number[] },
        ) => {
          const [x = 0, y1 = 0] = api.coord([api.value(0), 0]);
          const [, y2 = 0] = api.coord([api.value(0), api.value(1)]);
          return { type: "line", shape: { x1: x, y1, x2: x, y2 }, style: { stroke: colours.series[0], lineWidth: 1.6 } };
        },
      },
      {
        type: "scatter",
        symbolSize: 8,
        color: colours.series[0],
        data: shown.map(({ n, residual_percent }) => [n, residual_percent]),
        markLine: {
          silent: true,
          symbol: "none",
          lineStyle: { color: colours.quiet, type: "solid", width: 1 },
          label: { show: false },
          data: [{ yAxis: 0 }],
        },
      },
    ],
  };
}

/** As many times the first, each as good: no further than a little above what was measured. */
export function linearLine({ points }: ScaleReport): [number, number][] {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || first.median <= 0) return [];
  const slope = first.median / first.n;
  const top = ABOVE * Math.max(...points.flatMap(({ median, high, values }) => [median, high ?? 0, ...values]));
  const end = Math.min(last.n, top / slope);
  return [[first.n, first.median], [end, slope * end]];
}

/** The share of the linear line that a point reaches, in percent; null without a first figure. */
export function ofLinear({ points }: ScaleReport, { n, median }: ScalePoint): number | null {
  const first = points[0];
  return first && first.median > 0 ? (100 * median * first.n) / (first.median * n) : null;
}

/** Ours and published ones as times the first: the shapes stand side by side, whatever the machines. */
export function speedUpChart(scale: ScaleReport, { colours }: Canvas): EChartsCoreOption {
  const first = scale.points[0];
  const own: [number, number][] = first ? scale.points.map(({ n, median }) => [n, median / first.median]) : [];
  const published = scale.published.map(({ title, points }) => ({ title, points: points.map(({ n, ratio }): [number, number] => [n, ratio]) }));
  const largest = Math.max(...[own, ...published.map(({ points }) => points)].flat().map(([n]) => n));
  const start = first?.n ?? 1;
  return {
    textStyle: textStyle(colours),
    grid: { left: LEFT, right: RIGHT, top: 24 + 20 * (1 + published.length), bottom: 44 },
    legend: { top: 0, left: 0, orient: "vertical", itemWidth: 18, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: { ...tooltip(colours), trigger: "item", valueFormatter: (value: unknown) => number(Number((value as number[])[1]), 3) },
    xAxis: { ...valueAxis(colours, scale.label), min: 0, max: largest * 1.03, minInterval: 1, splitLine: { show: false }, axisLabel: within(largest, colours) },
    yAxis: { ...valueAxis(colours, "times the first"), nameGap: 54, min: 0 },
    series: [
      { name: "this result", type: "line", symbol: "circle", symbolSize: 9, color: colours.series[0], z: 4, data: own },
      ...published.map(({ title, points }, place) => ({
        name: `published: ${title}`,
        type: "line",
        symbol: "diamond",
        symbolSize: 9,
        color: colours.series[(place + 1) % colours.series.length],
        lineStyle: { type: "dotted" },
        data: points,
      })),
      linear([[start, 1], [largest, largest / start]], colours),
    ],
  };
}

function linear(data: [number, number][], colours: Palette) {
  return {
    name: LINEAR,
    type: "line",
    symbol: "none",
    silent: true,
    color: colours.quiet,
    lineStyle: { width: 1.2, type: "dashed", color: colours.quiet },
    z: 1,
    data,
  };
}

/** From nothing to a little beyond the largest N; both charts have the same. */
function nAxis({ points, label }: ScaleReport, colours: Palette) {
  const largest = Math.max(...points.map(({ n }) => n));
  const whole = points.every(({ n }) => Number.isInteger(n));
  return {
    ...valueAxis(colours, label),
    min: 0,
    max: largest * 1.03,
    ...(whole ? { minInterval: 1 } : {}),
    splitLine: { show: false },
    axisLabel: within(largest, colours),
  };
}

function within(largest: number, colours: Palette) {
  return { color: colours.quiet, hideOverlap: true, formatter: (n: number) => (n <= largest ? tick(n) : "") };
}

function law(fit: ScaleFit, { label }: ScaleReport, colours: Palette) {
  const stroke = colours.series[1];
  const band = { type: "line", silent: true, symbol: "none", stack: "band", lineStyle: { opacity: 0 }, z: 1, tooltip: { show: false } };
  return [
    { ...band, data: fit.curve.map(({ n, low }) => [n, low]) },
    { ...band, areaStyle: { color: stroke, opacity: 0.18 }, data: fit.curve.map(({ n, low, high }) => [n, high - low]) },
    {
      name: "fitted law",
      type: "line",
      symbol: "none",
      silent: true,
      color: stroke,
      lineStyle: { width: 1.8 },
      data: fit.curve.map(({ n, value }) => [n, value]),
      markLine: {
        silent: true,
        symbol: "none",
        lineStyle: { color: colours.text, type: "dashed", width: 1.2 },
        label: { position: "insideEndTop", rotate: 0, align: "right", color: colours.text, formatter: `peak at ${number(fit.peak_n, 3)} ${label}  ` },
        data: fit.peak_n === null ? [] : [{ xAxis: fit.peak_n }],
      },
      markArea: {
        silent: true,
        itemStyle: { color: colours.text, opacity: 0.07 },
        data: fit.peak_interval ? [[{ xAxis: fit.peak_interval[0] }, { xAxis: fit.peak_interval[1] }]] : [],
      },
    },
  ];
}

function tip({ points, unit, label }: ScaleReport, n: number): string {
  const point: ScalePoint | undefined = points.find((each) => each.n === n);
  if (!point) return "";
  const fitted = point.fitted === null ? [] : [`by the law ${number(point.fitted)} (${percent(point.residual_percent)} off)`];
  return [
    `<b>${number(n, 3)} ${safe(label)}</b>`,
    `median ${number(point.median)} ${safe(unit)} of ${point.values.length}`,
    ...(point.low === null ? [] : [interval(point.low, point.high)]),
    ...fitted,
  ].join("<br>");
}

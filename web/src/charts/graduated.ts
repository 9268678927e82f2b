import type { EChartsCoreOption } from "echarts/core";
import type { GraduatedReport, GraduatedVariant, LoadLevel, Spread } from "../lib/document";
import { interval, number, tick } from "../lib/format";
import { marked } from "../lib/power";
import { legendRows, safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";
import { uprightWhiskers } from "./sweep";

const LINE = "path://M0 0h18v2h-18z";
const PER_WATT = "performance per watt";
const POWER = "average power";
/** Of a chart of a single level that has no steady state, in percent of the load on both sides. */
const BESIDE = 4;
const LEGEND_ROW = 20;
const LEVEL_HEIGHT = 30;

/** Pixels that the load-power graph takes. */
export function loadPowerHeight({ levels }: GraduatedVariant): number {
  return 120 + LEVEL_HEIGHT * Math.max(4, levels.length);
}

/**
 * The graph of the standard reports: target loads from active idle at the bottom to 100 % at the top, performance per
 * watt as bars (upper axis), average power as a line (lower axis).
 */
export function loadPowerChart(variant: GraduatedVariant, unit: string, { colours }: Canvas): EChartsCoreOption {
  const levels = [...variant.levels].reverse();
  const at = (spread: Spread | null | undefined): number | null => spread?.median ?? null;
  const watts = marked("W", variant.mark);
  const perWatt = marked(`${unit} per watt`, variant.mark);
  return {
    textStyle: textStyle(colours),
    grid: { left: 84, right: 24, top: 74, bottom: 44 },
    legend: {
      top: 0,
      left: 0,
      itemWidth: 14,
      itemHeight: 8,
      textStyle: { color: colours.text },
      data: [{ name: PER_WATT, icon: "roundRect" }, { name: POWER, icon: LINE }],
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (params: unknown) => {
        const level = levels[(params as { dataIndex: number }[])[0]?.dataIndex ?? -1];
        return level ? tip(level, unit, variant.mark ?? "") : "";
      },
    },
    xAxis: [
      { ...valueAxis(colours, watts), min: 0, position: "bottom", splitLine: { show: false } },
      { ...valueAxis(colours, perWatt), min: 0, position: "top" },
    ],
    yAxis: {
      type: "category",
      data: levels.map(({ name }) => name),
      axisLine: { lineStyle: { color: colours.line } },
      axisTick: { show: false },
      axisLabel: { color: colours.text, interval: 0 },
    },
    series: [
      {
        name: PER_WATT,
        type: "bar",
        xAxisIndex: 1,
        barWidth: "62%",
        itemStyle: { color: colours.bar },
        label: {
          show: true,
          position: "insideLeft",
          color: colours.text,
          fontSize: 11,
          formatter: ({ dataIndex }: { dataIndex: number }) => number(at(levels[dataIndex]?.per_watt) ?? 0, 3),
        },
        data: levels.map(({ per_watt }) => at(per_watt)),
      },
      levelWhiskers(levels.map(({ per_watt }) => per_watt), 1, colours.text),
      {
        name: POWER,
        type: "line",
        xAxisIndex: 0,
        symbol: "circle",
        symbolSize: 8,
        z: 4,
        color: colours.series[1],
        lineStyle: { width: 2 },
        connectNulls: false,
        data: levels.map(({ watts: own }, place) => [at(own), place]),
      },
      levelWhiskers(levels.map(({ watts: own }) => own), 0, colours.series[1]),
    ],
  };
}

/** Power over the load of each configuration, with intervals; what power in proportion to the load would be. */
export function powerCurves(report: GraduatedReport, { colours, width }: Canvas): EChartsCoreOption {
  const lines = report.variants.map((variant) => ({
    variant,
    name: marked(variant.variant, variant.mark),
    levels: [...variant.levels].reverse().filter(({ watts }) => watts),
  }));
  const highest = Math.max(...lines.flatMap(({ levels }) => levels.map(({ watts }) => watts?.median ?? 0)));
  const rows = legendRows([...lines.map(({ name }) => name), "in proportion"], width - 24);
  return {
    textStyle: textStyle(colours),
    grid: { left: 64, right: 18, top: 14 + LEGEND_ROW * rows, bottom: 44 },
    legend: { top: 0, left: 0, itemWidth: 16, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: { ...tooltip(colours), trigger: "item" },
    xAxis: loadAxis(report, colours),
    yAxis: { ...valueAxis(colours, "W"), nameGap: 46, min: 0 },
    series: [
      ...lines.map(({ name, levels, variant }, index) => ({
        name,
        type: "line",
        symbol: "circle",
        symbolSize: 7,
        color: colours.series[index % colours.series.length],
        lineStyle: { width: 1.8 },
        data: levels.map(({ share, watts }) => [100 * share, watts?.median ?? null]),
        tooltip: {
          formatter: ({ dataIndex }: { dataIndex: number }) => {
            const level = levels[dataIndex];
            return level ? `<b>${safe(variant.variant)}</b><br>${tip(level, report.unit, variant.mark ?? "")}` : "";
          },
        },
      })),
      ...lines.map(({ levels }, index) =>
        uprightWhiskers(
          levels.map(({ share, watts }) => [100 * share, watts?.low ?? null, watts?.high ?? null]),
          colours.series[index % colours.series.length],
        ),
      ),
      {
        name: "in proportion",
        type: "line",
        symbol: "none",
        silent: true,
        color: colours.quiet,
        lineStyle: { width: 1.2, type: "dashed", color: colours.quiet },
        data: [
          [0, 0],
          [100, highest],
        ],
      },
    ],
  };
}

/** Response percentiles by level; a level without a steady state has hollow points and a band that says so. */
export function responseChart(variant: GraduatedVariant, report: GraduatedReport, { colours }: Canvas): EChartsCoreOption {
  const levels = [...variant.levels].reverse().filter(({ share }) => share > 0);
  const lines: [string, (level: LoadLevel) => number | null][] = [
    ["median", ({ p50_ms }) => p50_ms],
    ["95 %", ({ p95_ms }) => p95_ms],
    ["99 %", ({ p99_ms }) => p99_ms],
  ];
  return {
    textStyle: textStyle(colours),
    grid: { left: 64, right: 18, top: 46, bottom: 44 },
    legend: { top: 0, left: 0, itemWidth: 16, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => {
        const level = levels[(params as { dataIndex: number }).dataIndex];
        return level ? responseTip(level) : "";
      },
    },
    xAxis: loadAxis(report, colours),
    yAxis: { ...valueAxis(colours, "ms"), nameGap: 46, type: "log" },
    series: lines.map(([name, value], index) => ({
      name,
      type: "line",
      symbolSize: 8,
      color: colours.series[index % colours.series.length],
      lineStyle: { width: 1.6 },
      data: levels.map((level) => ({
        value: [100 * level.share, positive(value(level))],
        symbol: level.steady ? "circle" : "emptyCircle",
      })),
      ...(index === 0 ? { markArea: unsteady(levels, colours) } : {}),
    })),
  };
}

function unsteady(levels: LoadLevel[], colours: Palette) {
  return {
    silent: true,
    itemStyle: { color: colours.unsafe, opacity: 0.12 },
    label: { color: colours.text, position: "insideTop", fontSize: 11, distance: -16 },
    data: levels
      .filter(({ steady }) => !steady)
      .map(({ share }) => [{ name: "no steady state", xAxis: 100 * share - BESIDE }, { xAxis: 100 * share + BESIDE }]),
  };
}

/** From idle to the highest load, in percent. */
function loadAxis({ over }: GraduatedReport, colours: Palette) {
  return {
    ...valueAxis(colours, over === "users" ? "users, % of all" : "target load, % of the calibrated rate"),
    min: 0,
    max: 110,
    interval: 10,
    splitLine: { show: false },
    axisLabel: { color: colours.quiet, hideOverlap: true, formatter: (value: number) => (value <= 100 ? tick(value) : "") },
  };
}

/** Intervals of bars that lie: low and high at the place of a level. */
function levelWhiskers(spreads: (Spread | null | undefined)[], xAxisIndex: number, stroke: string | undefined) {
  return {
    type: "custom",
    silent: true,
    xAxisIndex,
    z: 5,
    data: spreads.map((spread, place) => [spread?.low ?? NaN, spread?.high ?? NaN, place]),
    encode: { x: [0, 1], y: 2 },
    tooltip: { show: false },
    renderItem: (_params: unknown, api: { value: (index: number) => number; coord: (point: number[]) => number[] }) => {
      const [low, high, place] = [api.value(0), api.value(1), api.value(2)];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
      const [x1 = 0, y = 0] = api.coord([low, place]);
      const [x2 = 0] = api.coord([high, place]);
      return { type: "line", shape: { x1, y1: y, x2, y2: y }, style: { stroke, lineWidth: 1.6 } };
    },
  };
}

function positive(value: number | null): number | null {
  return value !== null && value > 0 ? value : null;
}

function tip(level: LoadLevel, unit: string, mark: string): string {
  const spread = (label: string, found: Spread | null | undefined, own: string) =>
    found ? [`${label} ${number(found.median)} ${safe(own)}${found.low === null ? "" : ` (${interval(found.low, found.high)})`}`] : [];
  return [
    `<b>${safe(level.name)}</b>`,
    ...spread("achieved", level.achieved_per_s, unit),
    ...spread("power", level.watts, marked("W", mark)),
    ...spread("", level.per_watt, marked(`${unit} per watt`, mark)),
    ...(level.holds ? [] : ["does not hold"]),
  ].join("<br>");
}

function responseTip(level: LoadLevel): string {
  const times = [
    ["median", level.p50_ms],
    ["95 %", level.p95_ms],
    ["99 %", level.p99_ms],
  ] as const;
  return [`<b>${safe(level.name)}</b>`, ...times.map(([name, value]) => `${name}: ${number(value)} ms`), ...(level.steady ? [] : ["no steady state"])].join("<br>");
}

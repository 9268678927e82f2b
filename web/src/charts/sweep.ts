import type { EChartsCoreOption } from "echarts/core";
import type { Figure, MetricInfo } from "../lib/document";
import { interval, number } from "../lib/format";
import type { SweepShape } from "../lib/sweep";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";

/** Of all labels of an axis, before they are slanted. */
const MOST_LETTERS = 80;
/** Of a chart whose slanted labels would lie upon each other, in pixels. */
const NARROW = 560;

/** Medians along the swept factor, with intervals as whiskers and every trial as a dot. */
export function sweepChart(shape: SweepShape, metric: MetricInfo, { colours, width }: Canvas): EChartsCoreOption {
  const place = (index: number) => (shape.numeric ? Number(shape.levels[index]) : index);
  const figures = shape.lines.map((line) =>
    line.variants.map((variant) => variant?.figures.find((figure) => figure.metric === metric.name)),
  );
  const axis = { ...valueAxis(colours, shape.factor), splitLine: { show: false } };
  return {
    textStyle: textStyle(colours),
    grid: { left: 64, right: 18, top: shape.lines.length > 1 ? 40 : 14, bottom: shape.numeric ? 44 : 18, containLabel: !shape.numeric },
    legend: { show: shape.lines.length > 1, top: 0, left: 0, itemWidth: 16, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: {
      ...tooltip(colours),
      formatter: (params: unknown) => {
        const { seriesIndex, dataIndex } = params as { seriesIndex: number; dataIndex: number };
        const figure = figures[seriesIndex % figures.length]?.[dataIndex];
        const head = `${safe(shape.factor)} ${safe(String(shape.levels[dataIndex] ?? ""))}`;
        return figure ? `${head}<br>median ${number(figure.median)} ${safe(metric.unit)} of ${figure.n}<br>${interval(figure.low, figure.high)}` : head;
      },
    },
    xAxis: shape.numeric ? { ...axis, scale: true } : wordAxis(axis, shape.levels.map(String), width, colours),
    yAxis: { ...valueAxis(colours, metric.unit), nameGap: 46, min: 0 },
    series: [
      ...shape.lines.map((line, index) => ({
        name: line.label || metric.label,
        type: "line",
        symbol: line.variants.some((variant) => variant?.unsafe.length) ? "emptyDiamond" : "circle",
        symbolSize: 8,
        lineStyle: { width: shape.numeric ? 1.8 : 0 },
        color: colours.series[index % colours.series.length],
        data: (figures[index] ?? []).map((figure, at) => [place(at), figure?.median ?? null]),
      })),
      ...figures.map((line, index) => whiskers(line, place, colours.series[index % colours.series.length])),
      ...figures.map((line, index) => ({
        type: "scatter",
        silent: true,
        symbolSize: 4,
        itemStyle: { color: colours.series[index % colours.series.length], opacity: 0.5 },
        data: line.flatMap((figure, at) => (figure?.values ?? []).map((value) => [place(at), value])),
      })),
    ],
  };
}

/** Levels that are words stand in their order, and nothing lies between two of them. */
function wordAxis(axis: object, levels: string[], width: number, colours: Palette) {
  const crowded = levels.join("").length > MOST_LETTERS;
  return {
    ...axis,
    type: "category" as const,
    name: "",
    data: levels,
    axisLabel: { color: colours.text, interval: 0, rotate: crowded ? (width < NARROW ? 90 : 30) : 0, fontSize: crowded ? 10 : 12 },
  };
}

function whiskers(line: (Figure | undefined)[], place: (index: number) => number, stroke: string | undefined) {
  return uprightWhiskers(
    line.map((figure, at) => [place(at), figure?.low ?? null, figure?.high ?? null]),
    stroke,
  );
}

/** Intervals as upright lines: place on the axis, low, high; none where one of them is missing. */
export function uprightWhiskers(spans: [number, number | null, number | null][], stroke: string | undefined) {
  return {
    type: "custom",
    silent: true,
    data: spans.map(([at, low, high]) => [at, low ?? NaN, high ?? NaN]),
    encode: { x: 0, y: [1, 2] },
    renderItem: (
      _params: unknown,
      api: { value: (index: number) => number; coord: (point: number[]) => number[] },
    ) => {
      const [at, low, high] = [api.value(0), api.value(1), api.value(2)];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
      const [x = 0, bottom = 0] = api.coord([at, low]);
      const [, top = 0] = api.coord([at, high]);
      return { type: "line", shape: { x1: x, y1: bottom, x2: x, y2: top }, style: { stroke, lineWidth: 1.4 } };
    },
  };
}

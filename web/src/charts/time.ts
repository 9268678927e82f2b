import type { EChartsCoreOption } from "echarts/core";
import type { Mark, PhaseSpan, Series } from "../lib/document";
import { number } from "../lib/format";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import { markLines } from "./marks";
import type { Palette } from "./palette";

/** A line of a chart over time. */
export interface Line {
  column: string;
  label: string;
  /** Multiplies the values, for a unit that people read. */
  scale?: number;
  stacked?: boolean;
  step?: boolean;
  /** Behind the others and in their shade. */
  quiet?: boolean;
}

/** Lines on an axis of their own, at the right. */
export interface Second {
  series: Series;
  lines: Line[];
  unit: string;
  /** What the axis says, with the unit. */
  name: string;
}

export interface TimeChart {
  series: Series;
  lines: Line[];
  unit: string;
  /** What the value axis says, if not the unit. */
  name?: string;
  phases: PhaseSpan[];
  logarithmic?: boolean;
  /** End of the value axis, where the quantity has one. */
  most?: number;
  second?: Second;
  /** A value that is drawn as a line of its own, always within the axis. */
  limit?: { value: number; label: string };
  /** Drawn as lines from top to bottom, those of a kind alike. */
  marks?: Mark[];
  /** Kinds of marks in the order of their styles, drawn or not. */
  kinds?: string[];
  /** Whether marks say what they are, where there is room. */
  labelled?: boolean;
}

/** Columns over time with the phases shaded behind them. */
export function timeChart(chart: TimeChart, canvas: Canvas): EChartsCoreOption {
  const { colours } = canvas;
  const shown = chart.lines.filter((line) => chart.series.columns[line.column]);
  const second = (chart.second?.lines ?? []).filter((line) => chart.second?.series.columns[line.column]);
  const end = Math.max(...(chart.phases.length ? chart.phases.map((phase) => phase.to_s) : chart.series.t_s));
  const legend = shown.length + second.length > 1;
  const units = new Map<string, string>();
  for (const { label } of shown) units.set(label, chart.unit);
  for (const { label } of second) units.set(label, chart.second?.unit ?? "");
  return {
    textStyle: textStyle(colours),
    grid: { left: 58, right: second.length ? 62 : 14, top: legend ? 44 : 22, bottom: 42 },
    legend: {
      show: legend,
      top: 0,
      left: 0,
      type: "plain",
      icon: "roundRect",
      itemWidth: 12,
      itemHeight: 3,
      textStyle: { color: colours.text },
      data: [...units.keys()],
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "axis",
      formatter: (params: unknown) => tip(params as TipItem[], units),
    },
    xAxis: { ...valueAxis(colours, "seconds since the first phase began"), min: 0, max: end, splitLine: { show: false } },
    yAxis: [
      { ...valueAxis(colours, chart.name ?? chart.unit), nameGap: 42, ...extent(chart, shown) },
      ...(second.length ? [{ ...valueAxis(colours, chart.second?.name ?? ""), nameGap: 46, min: 0, splitLine: { show: false } }] : []),
    ],
    series: [
      ...shown.map((line, index) => ({
        ...drawn(chart.series, line, colours, chart.logarithmic === true),
        color: colours.series[index % colours.series.length],
        ...(line.stacked ? { stack: "all", areaStyle: { opacity: 0.35 } } : {}),
        ...(index === 0 ? { markArea: shading(chart.phases, colours), ...limitLine(chart.limit, colours) } : {}),
      })),
      ...second.map((line, index) => ({
        ...drawn(chart.second?.series ?? chart.series, line, colours, false),
        yAxisIndex: 1,
        color: line.quiet ? colours.quiet : colours.series[(shown.length + index) % colours.series.length],
      })),
      ...markLines(chart, canvas),
    ],
  };
}

function drawn(series: Series, line: Line, colours: Palette, logarithmic: boolean) {
  return {
    name: line.label,
    type: "line",
    showSymbol: series.t_s.length < 3,
    connectNulls: true,
    step: line.step ? "middle" : false,
    lineStyle: { width: line.quiet ? 1.2 : 1.6, ...(line.quiet ? { color: colours.quiet } : {}) },
    z: line.quiet ? 1 : 2,
    data: points(series, line, logarithmic),
  };
}

function points(series: Series, line: Line, logarithmic: boolean): [number, number | null][] {
  const values = series.columns[line.column] ?? [];
  return series.t_s.map((t, index) => {
    const value = values[index];
    if (value === null || value === undefined || (logarithmic && value <= 0)) return [t, null];
    return [t, value * (line.scale ?? 1)];
  });
}

/** Where the value axis begins and ends: with a limit so that it is always seen. */
function extent({ series, limit, logarithmic, most }: TimeChart, shown: Line[]) {
  const values = shown.flatMap((line) => points(series, line, logarithmic === true).flatMap(([, value]) => value ?? []));
  const highest = Math.max(limit?.value ?? 0, ...values);
  if (logarithmic) {
    return limit ? { type: "log" as const, ...decades(Math.min(limit.value, ...values), highest) } : { type: "log" as const };
  }
  if (most) return { min: 0, max: most };
  return limit && highest === limit.value ? { min: 0, max: 1.15 * highest } : { min: 0 };
}

/** Whole powers of ten around a range. */
function decades(low: number, high: number): { min: number; max: number } {
  return { min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(1.05 * high)) };
}

function limitLine(limit: TimeChart["limit"], colours: Palette) {
  if (!limit) return {};
  return {
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: colours.worse, width: 1.4, type: "dashed" },
      label: { position: "insideStartTop", color: colours.worse, fontSize: 11, formatter: limit.label },
      data: [{ yAxis: limit.value }],
    },
  };
}

function shading(phases: PhaseSpan[], colours: Palette) {
  return {
    silent: true,
    label: { color: colours.quiet, position: "insideTop", fontSize: 11, distance: -14 },
    data: phases.map((phase) => [
      {
        name: phase.name,
        xAxis: phase.from_s,
        itemStyle: { color: phase.kind === "measure" ? "transparent" : colours.faint },
      },
      { xAxis: phase.to_s },
    ]),
  };
}

interface TipItem {
  seriesName: string;
  marker: string;
  value: [number, number | null];
}

function tip(items: TipItem[], units: Map<string, string>): string {
  const first = items[0];
  if (!first) return "";
  const lines = items
    .filter((item) => item.value[1] !== null)
    .map((item) => `${item.marker}${safe(item.seriesName)}: ${number(item.value[1])} ${safe(units.get(item.seriesName) ?? "")}`);
  return [`at ${number(first.value[0], 3)} s`, ...lines].join("<br>");
}

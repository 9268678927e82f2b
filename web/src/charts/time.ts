import type { EChartsCoreOption } from "echarts/core";
import type { Mark, PhaseSpan, Series } from "../lib/document";
import { number } from "../lib/format";
import { isBand } from "../lib/marks";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import { markBands, markLines } from "./marks";
import type { Palette } from "./palette";

/** A line of a chart over time. */
export interface Line {
  column: string;
  /** In the legend; lines of one label have one colour. */
  label: string;
  /** Which figure of what the label names: `99 %`. */
  aspect?: string;
  dotted?: boolean;
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
  /** Stretches that stand out, shaded. */
  spikes?: { from_s: number; to_s: number }[];
  /** A value that is drawn as a line of its own, always within the axis. */
  limit?: { value: number; label: string };
  /** Those that lasted are drawn as bands. */
  marks?: Mark[];
  /** Kinds of the others that are drawn as lines from top to bottom, in the order of their styles. */
  kinds?: string[];
  /** Whether marks say what they are, where there is room. */
  labelled?: boolean;
}

/** Pixels of a letter of a phase's name, and of both sides of the plot. */
const LETTER = 6.5;
const SIDES = 72;

/** Columns over time with the phases shaded behind them. */
export function timeChart(chart: TimeChart, canvas: Canvas): EChartsCoreOption {
  const { colours } = canvas;
  const shown = chart.lines.filter((line) => chart.series.columns[line.column]);
  const second = (chart.second?.lines ?? []).filter((line) => chart.second?.series.columns[line.column]);
  const end = Math.max(...(chart.phases.length ? chart.phases.map((phase) => phase.to_s) : chart.series.t_s));
  const legend = shown.length + second.length > 1;
  const labels = [...new Set(shown.map(({ label }) => label))];
  const said = [...shown.map((line) => saying(line, chart.unit)), ...second.map((line) => saying(line, chart.second?.unit ?? ""))];
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
      data: [...labels, ...second.map(({ label }) => label)],
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "axis",
      formatter: (params: unknown) => tip(params as TipItem[], said),
    },
    xAxis: { ...valueAxis(colours, "seconds since the first phase began"), min: 0, max: end, splitLine: { show: false } },
    yAxis: [
      { ...valueAxis(colours, chart.name ?? chart.unit), nameGap: 42, ...extent(chart, shown) },
      ...(second.length ? [{ ...valueAxis(colours, chart.second?.name ?? ""), nameGap: 46, min: 0, splitLine: { show: false } }] : []),
    ],
    series: [
      ...shown.map((line, index) => ({
        ...drawn(chart.series, line, chart, colours),
        color: colours.series[labels.indexOf(line.label) % colours.series.length],
        ...(line.stacked ? { stack: "all", areaStyle: { opacity: 0.35 } } : {}),
        ...(index === 0 ? { markArea: shading(chart, colours, (canvas.width - SIDES) / end), ...limitLine(chart.limit, colours) } : {}),
      })),
      ...second.map((line, index) => ({
        ...drawn(chart.second?.series ?? chart.series, line, { marks: chart.marks }, colours),
        yAxisIndex: 1,
        color: line.quiet ? colours.quiet : colours.series[(labels.length + index) % colours.series.length],
      })),
      ...markLines(chart, canvas),
    ],
  };
}

function drawn(series: Series, line: Line, { logarithmic = false, marks = [] }: Partial<TimeChart>, colours: Palette) {
  const all = points(series, line, logarithmic);
  return {
    name: line.label,
    type: "line",
    showSymbol: all.filter(([, value]) => value !== null).length < 3,
    connectNulls: line.stacked === true,
    step: line.step ? "middle" : false,
    lineStyle: {
      width: line.quiet || line.dotted ? 1.2 : 1.6,
      type: line.dotted ? "dotted" : "solid",
      ...(line.quiet ? { color: colours.quiet } : {}),
    },
    z: line.quiet ? 1 : 2,
    data: line.stacked ? all : all.filter(([t, value]) => value !== null || isWithin(t, marks)),
  };
}

/** Whether a moment lies in a band: a line has a gap there if there is nothing to draw, elsewhere it goes on. */
function isWithin(t: number, marks: Mark[]): boolean {
  return marks.filter(isBand).some(({ t_s, to_s }) => t >= t_s && t <= to_s);
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

/** Names of phases that have room beside those before them; empty of the others. */
export function phaseNames(phases: PhaseSpan[], perSecond: number): string[] {
  let taken = -Infinity;
  return phases.map(({ name, from_s, to_s }) => {
    const middle = ((from_s + to_s) / 2) * perSecond;
    const half = (name.length * LETTER) / 2;
    if (middle - half < taken) return "";
    taken = middle + half;
    return name;
  });
}

function shading({ phases, spikes = [], marks = [] }: TimeChart, colours: Palette, perSecond: number) {
  const names = phaseNames(phases, perSecond);
  return {
    silent: true,
    label: { color: colours.quiet, position: "insideTop", fontSize: 11, distance: -14 },
    data: [
      ...phases.map((phase, index) => [
        {
          name: names[index],
          xAxis: phase.from_s,
          itemStyle: { color: phase.kind === "measure" ? "transparent" : colours.faint },
        },
        { xAxis: phase.to_s },
      ]),
      ...spikes.map(({ from_s, to_s }) => [
        { xAxis: from_s, itemStyle: { color: colours.worse, opacity: 0.16 } },
        { xAxis: to_s },
      ]),
      ...markBands(marks, colours),
    ],
  };
}

interface TipItem {
  seriesIndex: number;
  marker: string;
  value: [number, number | null];
}

/** What the tooltip says of a line, before and after the value. */
interface Saying {
  name: string;
  unit: string;
}

function saying({ label, aspect }: Line, unit: string): Saying {
  return { name: safe(aspect ? `${label}, ${aspect}` : label), unit: safe(unit) };
}

function tip(items: TipItem[], said: Saying[]): string {
  const first = items[0];
  if (!first) return "";
  const lines = items.flatMap(({ seriesIndex, marker, value }) => {
    const line = said[seriesIndex];
    return line && value[1] !== null ? `${marker}${line.name}: ${number(value[1])} ${line.unit}` : [];
  });
  return [`at ${number(first.value[0], 3)} s`, ...lines].join("<br>");
}

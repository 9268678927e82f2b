import type { EChartsCoreOption } from "echarts/core";
import type { PhaseSpan, Series } from "../lib/document";
import { number } from "../lib/format";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";

/** A line of a chart over time. */
export interface Line {
  column: string;
  label: string;
  /** Multiplies the values, for a unit that people read. */
  scale?: number;
  stacked?: boolean;
  step?: boolean;
}

export interface TimeChart {
  series: Series;
  lines: Line[];
  unit: string;
  phases: PhaseSpan[];
  logarithmic?: boolean;
  /** End of the value axis, where the quantity has one. */
  most?: number;
}

/** Columns over time with the phases shaded behind them. */
export function timeChart(chart: TimeChart, { colours }: Canvas): EChartsCoreOption {
  const shown = chart.lines.filter((line) => chart.series.columns[line.column]);
  const end = Math.max(...(chart.phases.length ? chart.phases.map((phase) => phase.to_s) : chart.series.t_s));
  const legend = shown.length > 1;
  return {
    textStyle: textStyle(colours),
    grid: { left: 58, right: 14, top: legend ? 44 : 22, bottom: 42 },
    legend: {
      show: legend,
      top: 0,
      left: 0,
      type: "plain",
      icon: "roundRect",
      itemWidth: 12,
      itemHeight: 3,
      textStyle: { color: colours.text },
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "axis",
      formatter: (params: unknown) => tip(params as TipItem[], chart.unit),
    },
    xAxis: { ...valueAxis(colours, "seconds since the first phase began"), min: 0, max: end, splitLine: { show: false } },
    yAxis: {
      ...valueAxis(colours, chart.unit),
      nameGap: 42,
      ...(chart.logarithmic ? { type: "log" } : { min: 0, ...(chart.most ? { max: chart.most } : {}) }),
    },
    series: shown.map((line, index) => ({
      name: line.label,
      type: "line",
      showSymbol: chart.series.t_s.length < 3,
      connectNulls: true,
      step: line.step ? "middle" : false,
      lineStyle: { width: 1.6 },
      color: colours.series[index % colours.series.length],
      ...(line.stacked ? { stack: "all", areaStyle: { opacity: 0.35 } } : {}),
      data: points(chart.series, line, chart.logarithmic === true),
      ...(index === 0 ? { markArea: shading(chart.phases, colours) } : {}),
    })),
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

function tip(items: TipItem[], unit: string): string {
  const first = items[0];
  if (!first) return "";
  const lines = items
    .filter((item) => item.value[1] !== null)
    .map((item) => `${item.marker}${safe(item.seriesName)}: ${number(item.value[1])} ${safe(unit)}`);
  return [`at ${number(first.value[0], 3)} s`, ...lines].join("<br>");
}

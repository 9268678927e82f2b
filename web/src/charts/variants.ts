import type { EChartsCoreOption } from "echarts/core";
import type { ComparisonReport, Figure, MetricInfo, VariantReport } from "../lib/document";
import { interval, number, percent, percentInterval } from "../lib/format";
import { isCompared, meanOf, SYMBOL, verdictText } from "../lib/verdict";
import { FONT, safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";

/** A variant with what is drawn of it. */
export interface Row {
  variant: VariantReport;
  figure: Figure | undefined;
  comparison: ComparisonReport | undefined;
}

const ROW_HEIGHT = 46;
const NARROW = 560;

/** Height of a chart of that many rows, in pixels. */
export function rowsHeight(rows: number): number {
  return rows * ROW_HEIGHT + 56;
}

/** What verdicts are about as bars from zero (else medians, with whiskers), every trial as a dot. */
export function figuresChart(rows: Row[], metric: MetricInfo, canvas: Canvas): EChartsCoreOption {
  const { colours } = canvas;
  return {
    ...frame(rows, canvas),
    tooltip: {
      ...tooltip(colours),
      formatter: (params: unknown) => figureTip(rows[indexOf(params)], metric),
    },
    xAxis: { ...valueAxis(colours, metric.unit), min: 0 },
    series: [
      {
        type: "bar",
        barWidth: 20,
        data: rows.map((row) => ({
          value: meanOf(row.figure) ?? 0,
          itemStyle: barStyle(row, colours),
        })),
      },
      whiskers(
        rows.map((row) => (isCompared(row.figure) ? null : span(row.figure?.low, row.figure?.high))),
        rows.map(() => colours.text),
      ),
      {
        type: "scatter",
        symbolSize: 5,
        itemStyle: { color: colours.text, opacity: 0.55 },
        data: rows.flatMap((row, place) =>
          (row.figure?.values ?? []).map((value, index) => ({
            value: [value, place],
            symbolOffset: [0, 5 * ((index % 5) - 2)],
          })),
        ),
      },
      {
        type: "scatter",
        symbolSize: 0.1,
        silent: true,
        itemStyle: { opacity: 1 },
        data: rows.map((row, place) => ({
          value: [Math.max(row.figure?.high ?? 0, ...(row.figure?.values ?? [0])), place],
          label: { formatter: verdictLabel(row), color: verdictColour(row, colours) },
        })),
        label: { show: true, position: "right", distance: 8, fontFamily: FONT, fontSize: 12, fontWeight: 600, lineHeight: 15 },
      },
    ],
  };
}

/** Each step's change in percent with its interval, about the line of no change. */
export function effectsChart(rows: Row[], canvas: Canvas): EChartsCoreOption {
  const { colours } = canvas;
  const compared = rows.filter((row) => row.comparison);
  const spans = compared.map((row) => span(toPercent(row.comparison?.low), toPercent(row.comparison?.high)));
  return {
    ...frame(compared, canvas),
    tooltip: {
      ...tooltip(colours),
      formatter: (params: unknown) => effectTip(compared[indexOf(params)]),
    },
    xAxis: valueAxis(colours, "change, %"),
    series: [
      whiskers(
        spans,
        compared.map((row) => verdictColour(row, colours)),
      ),
      {
        type: "scatter",
        symbolSize: 11,
        data: compared.map((row, place) => ({
          value: [row.comparison?.effect_percent ?? 0, place],
          itemStyle: { color: verdictColour(row, colours) },
          symbol: row.variant.unsafe.length ? "diamond" : "circle",
        })),
        markLine: {
          silent: true,
          symbol: "none",
          lineStyle: { color: colours.quiet, type: "dashed" },
          label: { show: false },
          data: [{ xAxis: 0 }],
        },
      },
      {
        // Keeps the ends of all intervals inside the axis: custom series do not count for its extent.
        type: "scatter",
        symbolSize: 0.1,
        silent: true,
        data: spans.flatMap((ends, place) => (ends ? ends.map((end) => [end, place]) : [])),
      },
    ],
  };
}

function frame(rows: Row[], { colours, width }: Canvas) {
  const narrow = width < NARROW;
  return {
    textStyle: textStyle(colours),
    grid: { left: narrow ? 108 : 190, right: narrow ? 64 : 96, top: 8, bottom: 44 },
    yAxis: {
      type: "category" as const,
      inverse: true,
      data: rows.map((row) => row.variant.name),
      axisLabel: {
        color: colours.text,
        width: narrow ? 98 : 178,
        overflow: "break" as const,
        lineHeight: 14,
        fontSize: narrow ? 11 : 12,
      },
      axisLine: { lineStyle: { color: colours.line } },
      axisTick: { show: false },
    },
  };
}

function barStyle(row: Row, colours: Palette) {
  if (!row.variant.unsafe.length) return { color: colours.bar };
  return {
    color: colours.paper,
    borderColor: colours.unsafe,
    borderWidth: 1,
    decal: { symbol: "rect", color: colours.unsafe, dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4 },
  };
}

function whiskers(spans: ([number, number] | null)[], colours: string[]) {
  return {
    type: "custom" as const,
    silent: true,
    z: 4,
    data: spans.map((ends, place) => [place, ends?.[0] ?? NaN, ends?.[1] ?? NaN]),
    encode: { x: [1, 2], y: 0 },
    renderItem: (
      params: { dataIndex: number },
      api: { value: (index: number) => number; coord: (point: number[]) => number[] },
    ) => {
      const [place, low, high] = [api.value(0), api.value(1), api.value(2)];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
      const [left = 0, y = 0] = api.coord([low, place]);
      const [right = 0] = api.coord([high, place]);
      const style = { stroke: colours[params.dataIndex], lineWidth: 1.6, fill: "none" };
      const line = (x1: number, y1: number, x2: number, y2: number) => ({
        type: "line",
        shape: { x1, y1, x2, y2 },
        style,
      });
      return {
        type: "group",
        children: [line(left, y, right, y), line(left, y - 6, left, y + 6), line(right, y - 6, right, y + 6)],
      };
    },
  };
}

function verdictLabel({ variant, comparison, figure }: Row): string {
  if (!figure) return "no valid trial";
  const unsafe = variant.unsafe.length ? "\nunsafe" : "";
  return comparison ? `${SYMBOL[comparison.verdict]} ${percent(comparison.effect_percent)}${unsafe}` : unsafe.trim();
}

function verdictColour({ comparison }: Row, colours: Palette): string {
  if (comparison?.verdict === "better") return colours.better;
  if (comparison?.verdict === "worse") return colours.worse;
  return colours.quiet;
}

function figureTip(row: Row | undefined, metric: MetricInfo): string {
  if (!row?.figure) return "no valid trial";
  const { figure, variant } = row;
  const kind = figure.interval_is_range ? "range" : "interval";
  return [
    `<b>${safe(variant.name)}</b>`,
    ...(isCompared(figure) ? [`mean ${number(figure.compared)} ${safe(metric.unit)}`] : []),
    `median ${number(figure.median)} ${safe(metric.unit)} of ${figure.n}`,
    `${kind} ${interval(figure.low, figure.high)}`,
    ...(variant.unsafe.length ? [`unsafe: ${safe(variant.unsafe.join(", "))}`] : []),
  ].join("<br>");
}

function effectTip(row: Row | undefined): string {
  if (!row?.comparison) return "";
  const { comparison } = row;
  return [
    `<b>${safe(comparison.candidate)}</b> against ${safe(comparison.baseline)}`,
    `${percent(comparison.effect_percent)} (${percentInterval(comparison.low, comparison.high)})`,
    verdictText(comparison),
  ].join("<br>");
}

function indexOf(params: unknown): number {
  const { value, dataIndex } = params as { value?: unknown; dataIndex: number };
  return Array.isArray(value) ? Number(value[1]) : dataIndex;
}

function span(low: number | null | undefined, high: number | null | undefined): [number, number] | null {
  return low === null || low === undefined || high === null || high === undefined ? null : [low, high];
}

function toPercent(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : 100 * (value - 1);
}

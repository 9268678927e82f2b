import type { EChartsCoreOption } from "echarts/core";
import type { GanttBar, GanttReport, JobsTable } from "../lib/document";
import { number, seconds, tick } from "../lib/format";
import { applicationsOf, isBad, loadText, relativeLines, relativeText } from "../lib/jobs";
import { legendRows, safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";
import { uprightWhiskers } from "./sweep";

const LANE = 22;
const LEFT = 92;
const RIGHT = 16;
const LETTER = 6; // its width in pixels
const LEGEND_ROW = 20;

interface Api {
  value: (index: number) => number;
  coord: (point: number[]) => number[];
  size: (extent: number[]) => number[];
}

/** Throughput per job by load, each column of the table a line; 1 is what it is relative to. */
export function relativeChart(table: JobsTable, { colours, width }: Canvas): EChartsCoreOption {
  const lines = relativeLines(table);
  const rows = legendRows(lines.map(({ label }) => label), width - 24);
  const ends = lines.flatMap(({ points }) => points.flatMap(({ figure, value }) => [figure.low ?? value, figure.high ?? value]));
  const [low, high] = [Math.min(1, ...ends), Math.max(1, ...ends)];
  const step = stepOf(high - low);
  const colour = (index: number) => colours.series[index % colours.series.length];
  return {
    textStyle: textStyle(colours),
    grid: { left: 64, right: 18, top: 16 + LEGEND_ROW * rows, bottom: 44 },
    legend: { show: lines.length > 1, top: 0, left: 0, itemWidth: 16, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => {
        const { seriesIndex, dataIndex } = params as { seriesIndex: number; dataIndex: number };
        const point = lines[seriesIndex]?.points[dataIndex];
        if (!point) return "";
        const reference = point.figure.reference ? `<br>1 is ${safe(point.figure.reference)}` : "";
        return `<b>${safe(lines[seriesIndex]?.label ?? "")}</b><br>${safe(loadText(point.row))}: ${relativeText(point.figure)}${reference}`;
      },
    },
    xAxis: { ...valueAxis(colours, "load, % of the slots"), min: 0, splitLine: { show: false } },
    yAxis: {
      ...valueAxis(colours, "throughput per job, relative"),
      nameGap: 46,
      min: step * Math.max(0, Math.ceil(low / step - 1)),
      max: step * Math.floor(high / step + 1),
      interval: step,
    },
    series: [
      ...lines.map(({ label, points }, index) => ({
        name: label,
        type: "line",
        symbol: "circle",
        symbolSize: 8,
        color: colour(index),
        lineStyle: { width: 1.8 },
        data: points.map(({ load, value }) => [load, value]),
        ...(index === 0 ? { markLine: reference(colours) } : {}),
      })),
      ...lines.map(({ points }, index) => ({
        ...uprightWhiskers(
          points.map(({ load, figure }) => [load, figure.low ?? null, figure.high ?? null]),
          colour(index),
        ),
        tooltip: { show: false },
      })),
    ],
  };
}

/** Between two marks of an axis: so few that they have room, and the ends of the axis are marks. */
function stepOf(span: number): number {
  return [0.05, 0.1, 0.2, 0.5, 1, 2].find((step) => span <= 5 * step) ?? 10 ** Math.ceil(Math.log10(span / 5));
}

function reference(colours: Palette) {
  return {
    silent: true,
    symbol: "none",
    lineStyle: { color: colours.quiet, type: "dashed", width: 1.2 },
    label: { show: false },
    data: [{ yAxis: 1 }],
  };
}

/** Pixels that the jobs of a trial take. */
export function ganttHeight({ lanes }: GanttReport): number {
  return 96 + LANE * Math.max(2, lanes.length);
}

/** Jobs over the slots of the nodes: pale until the application begins, then in the colour of the application. */
export function ganttChart(gantt: GanttReport, { colours, width }: Canvas): EChartsCoreOption {
  const applications = applicationsOf(gantt);
  const pieces = gantt.bars.flatMap((bar) => bar.lanes.map((lane) => ({ bar, lane })));
  const end = Math.max(...gantt.bars.map(({ ended_s }) => ended_s));
  const begin = Math.min(0, ...gantt.bars.map(({ arrived_s }) => arrived_s));
  const rows = legendRows(applications, width - 24);
  const colour = (application: string) => colours.series[applications.indexOf(application) % colours.series.length];
  return {
    textStyle: textStyle(colours),
    grid: { left: LEFT, right: RIGHT, top: 16 + LEGEND_ROW * rows, bottom: 44 },
    legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 10, icon: "rect", textStyle: { color: colours.text }, data: applications },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => {
        const piece = pieces.filter(({ bar }) => bar.application === (params as { seriesName: string }).seriesName)[(params as { dataIndex: number }).dataIndex];
        return piece ? jobTip(piece.bar) : "";
      },
    },
    xAxis: {
      ...valueAxis(colours, "seconds since the first phase began"),
      min: begin,
      max: end * 1.005,
      axisLabel: { color: colours.quiet, hideOverlap: true, formatter: (value: number) => (value <= end ? tick(value) : "") },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: gantt.lanes.map(({ node, slot }) => `${node}, slot ${slot}`),
      axisLabel: { color: colours.text, fontSize: 11, interval: 0, width: LEFT - 12, overflow: "truncate" },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: applications.map((application, index) => {
      const own = pieces.filter(({ bar }) => bar.application === application);
      return {
        name: application,
        type: "custom",
        color: colour(application),
        data: own.map(({ bar, lane }) => [bar.arrived_s, bar.began_s ?? bar.ended_s, bar.ended_s, lane]),
        encode: { x: [0, 2], y: 3 },
        ...(index === 0 && gantt.gate_open_s !== null ? { markLine: gate(gantt.gate_open_s, colours) } : {}),
        renderItem: (params: { dataIndex: number }, api: Api) => drawn(own[params.dataIndex]?.bar, api, colour(application), colours),
      };
    }),
  };
}

function drawn(bar: GanttBar | undefined, api: Api, fill: string | undefined, colours: Palette) {
  if (!bar) return undefined;
  const [left = 0, y = 0] = api.coord([api.value(0), api.value(3)]);
  const [middle = 0] = api.coord([api.value(1), api.value(3)]);
  const [right = 0] = api.coord([api.value(2), api.value(3)]);
  const height = Math.min(16, (api.size([0, 1])[1] ?? 0) * 0.75);
  const shown = bar.state === "ended" ? fill : isBad(bar) ? colours.worse : colours.quiet;
  const name = LETTER * bar.label.length < right - middle - 4;
  const box = (x: number, width: number) => ({ x, y: y - height / 2, width: Math.max(1, width), height });
  return {
    type: "group",
    children: [
      { type: "rect", shape: box(left, middle - left), style: { fill, opacity: 0.25 } },
      { type: "rect", shape: box(middle, right - middle - 0.6), style: { fill: shown, opacity: 0.8 } },
      ...(name ? [{ type: "text", style: { text: bar.label, x: middle + 3, y, textVerticalAlign: "middle", fill: colours.paper, fontSize: 10 } }] : []),
    ],
  };
}

function gate(at: number, colours: Palette) {
  return {
    silent: true,
    symbol: "none",
    lineStyle: { color: colours.text, type: "dashed", width: 1.2 },
    label: { formatter: "gate opens", color: colours.text, fontSize: 11, position: "start", rotate: 0 },
    data: [{ xAxis: at }],
  };
}

function jobTip(bar: GanttBar): string {
  const known = (label: string, value: number | null) => (value === null ? [] : [`${label} ${seconds(value)}`]);
  return [
    `<b>${safe(bar.label)}</b>, ${safe(bar.application)}`,
    `${number(bar.ranks)} ${bar.ranks === 1 ? "rank" : "ranks"} on ${safe(bar.nodes.join(", "))}`,
    ...known("waited", bar.waiting_s),
    ...known("launch", bar.launch_s),
    ...known("staging", bar.stage_s),
    ...known("run", bar.run_s),
    ...(bar.state === "ended" ? [] : [safe(`${bar.state}${bar.reason ? ` (${bar.reason})` : ""}`)]),
  ].join("<br>");
}

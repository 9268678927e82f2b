import type { EChartsCoreOption } from "echarts/core";
import type { CycleReport, Figure, StepReport, StepTitle } from "../lib/document";
import { bytes, number, seconds } from "../lib/format";
import type { StepBars } from "../lib/steps";
import { blocksOf, isSpilled, isSpilledBeside, stepName, streamsOf, timesOf } from "../lib/steps";
import { legendRows, safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";

const LEFT = 64;
const RIGHT = 16;
const ROW = 34;
const LETTER = 5.8; // its width in pixels

/** Height of a timeline of that many streams, in pixels. */
export function timelineHeight(streams: number): number {
  return streams * ROW + 64;
}

/** Each step's median by variant on a log scale, with its interval. */
export function stepBars({ steps, unit, variants }: StepBars, { colours, width }: Canvas): EChartsCoreOption {
  const times = variants.flatMap(({ figures }) => figures.flatMap((figure) => (figure ? [figure.median, figure.low ?? figure.median] : [])));
  const above = unit === "s" ? [1] : [];
  const least = 10 ** Math.floor(Math.log10(Math.min(...times.filter((time) => time > 0), ...above)));
  const upright = width < 760;
  const room = (width - LEFT - RIGHT) / steps.length;
  const rows = legendRows(variants.map(({ name }) => name), width);
  return {
    textStyle: textStyle(colours),
    grid: { left: LEFT, right: RIGHT, top: variants.length > 1 ? 20 + 16 * rows : 12, bottom: 36 },
    legend: {
      show: variants.length > 1,
      top: 0,
      left: 0,
      itemWidth: 14,
      itemHeight: 8,
      textStyle: { color: colours.text },
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (params: unknown) => {
        const place = (params as { dataIndex: number }[])[0]?.dataIndex ?? 0;
        const step = steps[place];
        const rows = variants.map(({ name, figures }) => `${safe(name)}: ${figureText(figures[place], unit)}`);
        const heading = step?.column ? "" : ` ${safe(step?.title ?? "")}`;
        return [`<b>${safe(step ? stepName(step) : "")}</b>${heading}`, ...rows].join("<br>");
      },
    },
    xAxis: {
      type: "category",
      data: steps.map(({ operation, title, column }) => (column ? title : operation)),
      axisLabel: {
        color: colours.text,
        fontSize: width < 560 ? 9 : 11,
        interval: 0,
        lineHeight: 13,
        rotate: upright ? 90 : 0,
        formatter: (name: string) => (upright || name.length * LETTER < room ? name : name.replaceAll("-", "-\n")),
      },
      axisLine: { lineStyle: { color: colours.line } },
      axisTick: { show: false },
    },
    yAxis: {
      ...valueAxis(colours, unit),
      type: "log",
      min: least,
      startValue: least,
      nameGap: 44,
      axisLabel: { color: colours.quiet, formatter: (value: number) => number(value, 3) },
    },
    series: variants.flatMap(({ name, unsafe, figures }, place) => [
      {
        name,
        type: "bar",
        color: colours.series[place % colours.series.length],
        itemStyle: barStyle(place, unsafe, colours),
        barGap: "8%",
        barCategoryGap: "28%",
        data: figures.map((figure) => figure?.median ?? null),
      },
      barWhiskers(figures, place, variants.length, colours),
    ]),
  };
}

/** Bars that had to take a colour again are paler, and those of unsafe variants hatched. */
function barStyle(place: number, unsafe: boolean, colours: Palette) {
  const pale = place < colours.series.length ? {} : { opacity: 0.5 };
  const hatch = { symbol: "rect", color: colours.paper, dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4 };
  return unsafe ? { ...pale, decal: hatch } : pale;
}

/** Height of the bars of that many cycles, in pixels; their legend takes several lines. */
export function cyclesHeight(cycles: number): number {
  return cycles * 26 + 130;
}

/** A bar for each cycle, made of the times of its steps. */
export function cycleBars(cycles: CycleReport[], steps: StepTitle[], { colours }: Canvas): EChartsCoreOption {
  const shown = steps.filter(({ operation }) => cycles.some(({ times_s }) => operation in times_s));
  const several = new Set(cycles.map(({ variant }) => variant)).size > 1;
  return {
    textStyle: textStyle(colours),
    grid: { left: 8, right: 24, top: 64, bottom: 36, containLabel: true },
    legend: { type: "plain", top: 0, left: 0, itemWidth: 14, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: {
      ...tooltip(colours),
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (params: unknown) => {
        const cycle = cycles[(params as { dataIndex: number }[])[0]?.dataIndex ?? 0];
        if (!cycle) return "";
        const times = Object.values(cycle.times_s);
        const rows = shown.flatMap(({ operation, title }) => {
          const time = cycle.times_s[operation];
          return time === undefined ? [] : [`${safe(title)}: ${seconds(time)}`];
        });
        return [`<b>${safe(cycle.variant)}, cycle ${cycle.cycle}</b>: ${seconds(times.reduce((sum, time) => sum + time, 0))}`, ...rows].join("<br>");
      },
    },
    xAxis: valueAxis(colours, "s"),
    yAxis: {
      type: "category",
      inverse: true,
      data: cycles.map(({ variant, cycle }) => (several ? `${variant}, ${cycle}` : `cycle ${cycle}`)),
      axisLabel: { color: colours.text },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: shown.map(({ operation, title }, place) => ({
      name: title,
      type: "bar",
      stack: "cycle",
      barMaxWidth: 18,
      color: colours.series[place % colours.series.length],
      data: cycles.map(({ times_s }) => times_s[operation] ?? null),
    })),
  };
}

/** Intervals on bars that stand side by side: their place follows from the widths given above. */
function barWhiskers(figures: (Figure | undefined)[], place: number, count: number, colours: Palette) {
  return {
    type: "custom" as const,
    silent: true,
    z: 4,
    tooltip: { show: false },
    data: figures.map((figure, index) => [index, figure?.low ?? NaN, figure?.high ?? NaN]),
    encode: { x: 0, y: [1, 2] },
    renderItem: (
      _params: unknown,
      api: {
        value: (index: number) => number;
        coord: (point: number[]) => number[];
        size: (extent: number[]) => number[];
      },
    ) => {
      const [index, low, high] = [api.value(0), api.value(1), api.value(2)];
      if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
      const room = (api.size([1, 0])[0] ?? 0) * 0.72;
      const bar = room / (count + 0.08 * (count - 1));
      const [middle = 0, top = 0] = api.coord([index, high]);
      const [, bottom = 0] = api.coord([index, low]);
      const x = middle - room / 2 + bar / 2 + place * bar * 1.08;
      return { type: "line", shape: { x1: x, y1: top, x2: x, y2: bottom }, style: { stroke: colours.text, lineWidth: 1.2 } };
    },
  };
}

/** Streams as rows, each step a block; those that spilled or failed are marked. */
export function timeline(steps: StepReport[], { colours }: Canvas): EChartsCoreOption {
  const streams = streamsOf(steps);
  const blocks = blocksOf(steps);
  const end = Math.max(...steps.map(({ to_s }) => to_s));
  return {
    textStyle: textStyle(colours),
    grid: { left: 108, right: RIGHT, top: 8, bottom: 44 },
    tooltip: {
      ...tooltip(colours),
      formatter: (params: unknown) => stepTip(blocks[(params as { dataIndex: number }).dataIndex]),
    },
    xAxis: { ...valueAxis(colours, "seconds of the trial"), min: 0, max: end * 1.005, axisLabel: within(end, colours) },
    yAxis: {
      type: "category",
      inverse: true,
      data: streams,
      axisLabel: { color: colours.text },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: [
      {
        type: "custom",
        data: blocks.map((step) => [step.from_s, step.to_s, streams.indexOf(step.stream)]),
        encode: { x: [0, 1], y: 2 },
        renderItem: (
          params: { dataIndex: number },
          api: {
            value: (index: number) => number;
            coord: (point: number[]) => number[];
            size: (extent: number[]) => number[];
          },
        ) => {
          const step = blocks[params.dataIndex];
          if (!step) return undefined;
          const [left = 0, y = 0] = api.coord([api.value(0), api.value(2)]);
          const [right = 0] = api.coord([api.value(1), api.value(2)]);
          const height = Math.min(22, (api.size([0, 1])[1] ?? 0) * 0.7);
          const width = Math.max(1, right - left - 0.6);
          return {
            type: "rect",
            shape: { x: left, y: y - height / 2, width, height },
            style: blockStyle(step, colours),
            textContent: width < LETTER * (step.operation.length + 1) ? undefined : { style: { text: step.operation, fill: colours.text, fontSize: 10 } },
            textConfig: { position: "inside" },
          };
        },
      },
    ],
  };
}

function within(end: number, colours: Palette) {
  return { color: colours.quiet, hideOverlap: true, formatter: (value: number) => (value <= end ? number(value, 4).replace(/\.0+$/, "") : "") };
}

function blockStyle(step: StepReport, colours: Palette) {
  const fill = step.error ? colours.worse : step.kind === "change" ? colours.series[1] : step.kind === "explain" ? colours.line : colours.bar;
  if (isSpilledBeside(step)) return { fill, stroke: colours.unsafe, lineWidth: 1.5, lineDash: [3, 2] };
  return { fill, stroke: colours.unsafe, lineWidth: isSpilled(step) ? 2 : 0 };
}

function stepTip(step: StepReport | undefined): string {
  if (!step) return "";
  const known = (label: string, value: number | null, text: (value: number) => string) => (value === null ? [] : [`${label} ${text(value)}`]);
  return [
    `<b>${safe(step.operation)}</b> of ${safe(step.stream)}${step.kind === "explain" ? ", its plan" : ""}`,
    `${seconds(step.to_s - step.from_s)}, from ${number(step.from_s)} s`,
    ...known("rows", step.rows, (value) => number(value)),
    ...known("CPU", step.cpu_s, seconds),
    ...known("CPU of the parser", step.parser_cpu_s, seconds),
    ...known("most memory", step.peak_bytes, bytes),
    ...known("read from disks", step.read_bytes, bytes),
    ...known("written to disks", step.written_bytes, bytes),
    ...known("spilled", step.spilled_bytes, bytes),
    ...known("spilled by the engine meanwhile, for this or others", step.spilled_beside_bytes, bytes),
    ...(step.error ? [safe(step.error)] : []),
  ].join("<br>");
}

function figureText(figure: Figure | undefined, unit: string): string {
  if (!figure) return "–";
  const { least, median, interval } = timesOf(figure, unit);
  return figure.n === 1 ? median : `${median}, interval ${interval}, minimum ${least}, n ${figure.n}`;
}

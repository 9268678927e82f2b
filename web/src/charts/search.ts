import type { EChartsCoreOption } from "echarts/core";
import type { SearchReport } from "../lib/document";
import { bracket, fate, FATE_SYMBOL, kindText, levelText, stretches, type Fate } from "../lib/search";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";

/** A cross of two bars: a failed level is told from one that holds without its colour. */
const CROSS = "path://M0 2L2 0L6 4L10 0L12 2L8 6L12 10L10 12L6 8L2 12L0 10L4 6Z";
const GRID = { left: 72, right: 84, top: 52, bottom: 42 };
/** Least room for a letter above the chart, in pixels: names may stand out a little. */
const LETTER_WIDTH = 4.5;
const SIZE = { ascent: 10, soak: 17, confirm: 10 };

/** The levels in the order in which they were tried, what was found as a line, its bracket as a band. */
export function searchChart(search: SearchReport, canvas: Canvas): EChartsCoreOption {
  const { colours } = canvas;
  const { levels } = search;
  return {
    textStyle: textStyle(colours),
    grid: GRID,
    legend: {
      top: 0,
      left: 0,
      itemWidth: 12,
      itemHeight: 12,
      textStyle: { color: colours.text },
      data: [...new Set(levels.map(fate))],
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => tip(search, (params as { value: [number, number] }).value),
    },
    xAxis: {
      ...valueAxis(colours, "levels in the order in which they were tried"),
      min: 0,
      max: levels.length + 1,
      interval: levels.length > 24 ? 5 : 1,
      axisLabel: { color: colours.quiet, formatter: (place: number) => (place > 0 && place <= levels.length ? String(place) : "") },
      splitLine: { show: false },
    },
    yAxis: { ...valueAxis(colours, search.unit), nameGap: 54, scale: true, boundaryGap: [0, "6%"] },
    series: [
      {
        type: "line",
        silent: true,
        symbol: "none",
        z: 1,
        lineStyle: { width: 1, color: colours.line },
        data: levels.map(({ level }, place) => [place + 1, level]),
        markArea: areas(search, canvas),
        markLine: found(search, colours),
      },
      ...(["holds", "fails", "does not count"] as const).map((each) => points(search, each, colours)),
    ],
  };
}

function points(search: SearchReport, wanted: Fate, colours: Palette) {
  const looks = {
    holds: { symbol: "circle", itemStyle: { color: colours.better } },
    fails: { symbol: CROSS, itemStyle: { color: colours.worse } },
    "does not count": { symbol: "circle", itemStyle: { color: colours.paper, borderColor: colours.quiet, borderWidth: 1.5 } },
  }[wanted];
  return {
    name: wanted,
    type: "scatter",
    ...looks,
    z: 3,
    data: search.levels.flatMap((level, place) =>
      fate(level) === wanted ? [{ value: [place + 1, level.level], symbolSize: SIZE[level.kind] }] : [],
    ),
  };
}

/** What the levels were tried for, along the axis, and the bracket of the result across it. */
function areas(search: SearchReport, { colours, width }: Canvas) {
  const ends = bracket(search);
  const room = (width - GRID.left - GRID.right) / (search.levels.length + 1);
  const kinds = stretches(search.levels).map(({ label, from, to }, index) => [
    {
      name: (to - from + 1) * room < LETTER_WIDTH * label.length ? "" : label,
      xAxis: from + 0.5,
      itemStyle: { color: index % 2 ? colours.faint : "transparent" },
    },
    { xAxis: to + 1.5 },
  ]);
  const band = ends ? [[{ yAxis: ends[0], itemStyle: { color: colours.bar, opacity: 0.35 } }, { yAxis: ends[1] }]] : [];
  return {
    silent: true,
    label: { color: colours.quiet, position: "insideTop", fontSize: 11, distance: -16 },
    data: [...kinds, ...band],
  };
}

function found({ level }: SearchReport, colours: Palette) {
  return {
    silent: true,
    symbol: "none",
    lineStyle: { color: colours.text, type: "solid", width: 1.4 },
    label: { position: "end", color: colours.text, fontWeight: 600, formatter: () => levelText(level ?? 0) },
    data: level === null ? [] : [{ yAxis: level }],
  };
}

function tip(search: SearchReport, [place]: [number, number]): string {
  const level = search.levels[place - 1];
  if (!level) return "";
  const verdict = fate(level);
  return [
    `<b>${levelText(level.level)} ${safe(search.unit)}</b>, ${safe(kindText(level))}`,
    `${FATE_SYMBOL[verdict]} ${verdict}`,
    ...(level.reason ? [safe(level.reason)] : []),
    `trial ${safe(level.trial)}`,
  ].join("<br>");
}

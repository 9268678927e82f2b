import { describe, expect, it } from "vitest";
import { palette } from "../src/charts/palette";
import { phaseNames, timeChart, type TimeChart } from "../src/charts/time";
import type { Mark, TrialReport, Watched } from "../src/lib/document";
import { activeGroups, executionLines, lostSecond, offeredSecond, remaining, threshold } from "../src/lib/execution";
import { markKinds, markLabel, shownAtFirst } from "../src/lib/marks";

const WATCHED: Watched = {
  groups: { stations: ["insert"], operators: ["minute", "group-last"], attendants: ["switch"] },
  operations: ["insert"],
  threshold_ms: 1000,
  offered: "events_offered_per_s",
  lost: "events_lost_per_s",
  backlog: "events_buffered",
  marks: ["segment-switch", "checkpoint"],
};

function trial(lost: (number | null)[] = [0, null, 0]): TrialReport {
  const t_s = [0.5, 1.5, 2.5];
  return {
    phases: [{ name: "measure", kind: "measure", from_s: 0, to_s: 3 }],
    groups: {
      t_s,
      columns: {
        "stations p50_ms": [20, 0, 30], "stations p99_ms": [40, null, 60], "stations max_ms": [50, null, 80],
        "operators p50_ms": [2, 2, 2], "operators p99_ms": [4, 5, 6], "operators max_ms": [7, 7, 7],
      },
    },
    workload: { t_s, columns: { events_offered_per_s: [10, 10, 20], events_lost_per_s: lost, events_buffered: [1, 2, 3], bytes: [1, 1, 1] } },
  } as unknown as TrialReport;
}

const MARKS: Mark[] = [
  { t_s: 0.2, to_s: null, kind: "segment-create", data: { number: 2 } },
  { t_s: 1, to_s: null, kind: "segment-switch", data: { number: 2 } },
  { t_s: 2, to_s: null, kind: "checkpoint", data: {} },
];
const OUTAGE: Mark = { t_s: 1.5, to_s: 2.5, kind: "outage: paused", data: {} };
const CANVAS = { colours: palette("light"), width: 800 };

interface Drawn {
  name: string;
  color: string;
  lineStyle: { type: string };
  data: [number, number | null][];
  markLine: { label: { show: boolean }; data: unknown[] };
  markArea?: { data: { name?: string; xAxis: number }[][] };
}

interface Option {
  yAxis: { min: number; max: number }[];
  legend: { data: string[] };
  tooltip: { formatter: (params: unknown) => string };
  series: Drawn[];
}

function draw(chart: Partial<TimeChart>, canvas = CANVAS): Option {
  const { groups, phases } = trial();
  return timeChart({ series: groups, lines: [], unit: "ms", phases, ...chart }, canvas) as unknown as Option;
}

describe("the execution-time graph", () => {
  it("draws a line for each group that did something, its median dotted in the same colour", () => {
    const groups = activeGroups(trial(), WATCHED);
    expect(groups).toEqual(["stations", "operators"]);
    const { series, legend, tooltip } = draw({ lines: executionLines(groups) });
    expect(legend.data).toEqual(["stations", "operators"]);
    expect(series.map(({ name, lineStyle }) => [name, lineStyle.type])).toEqual([
      ["stations", "solid"], ["stations", "dotted"], ["operators", "solid"], ["operators", "dotted"],
    ]);
    const [first, second, third, fourth] = series.map(({ color }) => color);
    expect([second, fourth]).toEqual([first, third]);
    expect(first).not.toBe(third);
    const tip = tooltip.formatter([0, 1].map((seriesIndex) => ({ seriesIndex, marker: "", value: [0.5, 7] })));
    expect(tip).toBe("at 0.500 s<br>stations, 99 %: 7.000 ms<br>stations, median: 7.000 ms");
  });
  it("draws three lines of a group that is alone", () => {
    expect(executionLines(["stations"]).map((line) => line.label)).toEqual(["median", "99 %", "longest"]);
    expect(executionLines([])).toEqual([]);
  });
  it("says whose threshold it is", () => {
    expect(threshold(WATCHED)).toEqual({ value: 1000, label: "threshold of insert: 1,000 ms" });
    expect(threshold({ ...WATCHED, threshold_ms: null })).toBeUndefined();
  });
  it("draws what was offered as steps, what was lost only if something was", () => {
    expect(offeredSecond(trial(), WATCHED)?.lines[0]).toMatchObject({ label: "events offered", step: true });
    expect(offeredSecond(trial(), { ...WATCHED, offered: null })).toBeUndefined();
    expect(lostSecond(trial(), WATCHED)).toBeUndefined();
    expect(lostSecond(trial([0, 7, 0]), WATCHED)?.name).toBe("events lost, /s");
  });
  it("leaves the other columns to be drawn small", () => {
    const { offered, lost, backlog } = WATCHED;
    expect(Object.keys(remaining(trial().workload, [offered, lost, backlog]).columns)).toEqual(["bytes"]);
  });
  it("keeps the threshold within the axis, however fast the operations are", () => {
    const chart = { lines: executionLines(["stations"]), limit: { value: 1000, label: "" } };
    const logarithmic = draw({ ...chart, logarithmic: true });
    expect(logarithmic.yAxis[0]).toMatchObject({ type: "log", min: 10, max: 10_000 });
    expect(logarithmic.series[0]?.data).toEqual([[0.5, 20], [2.5, 30]]);
    expect(draw(chart).yAxis[0]).toMatchObject({ min: 0, max: 1150 });
  });
});

describe("marks", () => {
  it("come in the order of the workload, and those it does not name are not drawn at first", () => {
    const kinds = markKinds(MARKS, WATCHED);
    expect(kinds.map(({ label, count }) => [label, count])).toEqual([["segment switch", 1], ["checkpoint", 1], ["segment create", 1]]);
    expect(shownAtFirst(kinds, WATCHED)).toEqual(["segment-switch", "checkpoint"]);
    expect(shownAtFirst(markKinds(MARKS, null), null)).toEqual(["segment-create", "segment-switch", "checkpoint"]);
  });
  it("say what they are, with their number", () => {
    expect(MARKS.map(markLabel)).toEqual(["segment create 2", "segment switch 2", "checkpoint"]);
  });
  it("are written only where there is room for all", () => {
    const kinds = MARKS.map(({ kind }) => kind);
    const written = (count: number, width: number) => {
      const marks = Array.from({ length: count }, () => MARKS[1] as Mark);
      const { series } = draw({ marks, kinds, labelled: true }, { ...CANVAS, width });
      return series.map(({ markLine }) => [markLine.label.show, markLine.data.length]);
    };
    expect(written(3, 800)).toEqual([[true, 0], [true, 3], [true, 0]]);
    expect(written(40, 800)).toEqual([[false, 0], [false, 40], [false, 0]]);
  });
  it("that lasted interrupt lines that have no value in them", () => {
    const lines = [{ column: "stations p99_ms", label: "" }];
    expect(draw({ lines }).series[0]?.data).toEqual([[0.5, 40], [2.5, 60]]);
    expect(draw({ lines, marks: [OUTAGE] }).series[0]?.data).toEqual([[0.5, 40], [1.5, null], [2.5, 60]]);
  });
  it("that lasted are bands with their name, on every chart and at first", () => {
    const marks = [...MARKS, OUTAGE];
    const { series } = draw({ lines: executionLines(["stations"]), marks, kinds: [OUTAGE.kind] });
    expect(series[0]?.markArea?.data.at(-1)).toMatchObject([{ name: "outage: paused", xAxis: 1.5 }, { xAxis: 2.5 }]);
    expect(series.at(-1)?.markLine.data, "and are no lines").toEqual([]);
    const kinds = markKinds(marks, WATCHED);
    expect(kinds.filter(({ bands }) => bands).map(({ label, count }) => [label, count])).toEqual([["outage: paused", 1]]);
    expect(shownAtFirst(kinds, WATCHED)).toEqual(["segment-switch", "checkpoint", "outage: paused"]);
  });
});

describe("names of phases", () => {
  const short = ["SEQ1M Q8T1 read", "SEQ1M Q1T1 read", "RND4K Q1T1 read"].map((name, index) => ({
    name,
    kind: "measure",
    from_s: index * 2,
    to_s: index * 2 + 2,
  }));

  it("are all told where they have room", () => {
    expect(phaseNames(short, 100)).toEqual(short.map(({ name }) => name));
  });

  it("are left out where they would lie on those before them", () => {
    expect(phaseNames(short, 30)).toEqual(["SEQ1M Q8T1 read", "", "RND4K Q1T1 read"]);
  });
});

import { describe, expect, it } from "vitest";
import { palette } from "../src/charts/palette";
import { timeChart } from "../src/charts/time";
import type { Mark, TrialReport, Watched } from "../src/lib/document";
import { executionLines, lostSecond, offeredSecond, remaining } from "../src/lib/execution";
import { markKinds, markLabel, shownAtFirst } from "../src/lib/marks";

const WATCHED: Watched = {
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
    load: { t_s, columns: { "insert p50_ms": [20, 0, 30], "insert p95_ms": [40, null, 60], "insert max_ms": [50, null, 80] } },
    workload: { t_s, columns: { events_offered_per_s: [10, 10, 20], events_lost_per_s: lost, events_buffered: [1, 2, 3], bytes: [1, 1, 1] } },
  } as unknown as TrialReport;
}

const MARKS: Mark[] = [
  { t_s: 0.2, kind: "segment-create", data: { number: 2 } },
  { t_s: 1, kind: "segment-switch", data: { number: 2 } },
  { t_s: 2, kind: "checkpoint", data: {} },
];

describe("the execution-time graph", () => {
  it("draws three lines of one operation, and one of each of several", () => {
    expect(executionLines(trial(), WATCHED).map((line) => line.label)).toEqual(["median", "95 %", "longest"]);
    const several = { ...WATCHED, operations: ["insert", "absent"] };
    expect(executionLines(trial(), several).map((line) => line.label)).toEqual(["insert, 95 %"]);
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
    const draw = (logarithmic: boolean) =>
      timeChart(
        { series: trial().load, lines: executionLines(trial(), WATCHED), unit: "ms", phases: trial().phases, logarithmic, limit: { value: 1000, label: "" } },
        { colours: palette("light"), width: 800 },
      ) as { yAxis: { min: number; max: number }[]; series: { data: [number, number | null][] }[] };
    expect(draw(true).yAxis[0]).toMatchObject({ type: "log", min: 10, max: 10_000 });
    expect(draw(true).series[0]?.data).toEqual([[0.5, 20], [1.5, null], [2.5, 30]]);
    expect(draw(false).yAxis[0]).toMatchObject({ min: 0, max: 1150 });
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
      const chart = { series: trial().load, lines: [], unit: "ms", phases: [], marks, kinds, labelled: true };
      const { series } = timeChart(chart, { colours: palette("light"), width }) as { series: { markLine: { label: { show: boolean }; data: unknown[] } }[] };
      return series.map(({ markLine }) => [markLine.label.show, markLine.data.length]);
    };
    expect(written(3, 800)).toEqual([[true, 0], [true, 3], [true, 0]]);
    expect(written(40, 800)).toEqual([[false, 0], [false, 40], [false, 0]]);
  });
});

import { describe, expect, it } from "vitest";
import { ganttChart, ganttHeight, relativeChart } from "../src/charts/jobs";
import { palette } from "../src/charts/palette";
import type { GanttBar, GanttReport, IoPhase, JobsTable, RelativeFigure } from "../src/lib/document";
import { linkLines, loadText, partText, relativeLines, relativeText } from "../src/lib/jobs";

const figure = (value: number | null, low: number | null = null, high: number | null = null) =>
  ({ variant: "v", application: "flow", value, low, high, reference: "one", reason: "" }) as RelativeFigure;

const TABLE = {
  applications: ["flow", "pstm"],
  columns: [{ label: "compact" }, { label: "distributed" }, { label: "never" }],
  rows: [
    { counts: { flow: 2, pstm: 1 }, load_share: 1, cells: [figure(0.97), figure(null), null] },
    { counts: { flow: 1, pstm: 0 }, load_share: 0.25, cells: [figure(1), figure(1.32, 1.28, 1.36), null] },
  ],
} as unknown as JobsTable;

const bar = (name: string, application: string, lanes: number[], more: Partial<GanttBar> = {}) =>
  ({ name, label: name, application, lanes, ranks: lanes.length, nodes: ["n1"], state: "ended", arrived_s: 1, began_s: 2, ended_s: 12, ...more }) as GanttBar;
const GANTT = {
  lanes: [1, 2].flatMap((slot) => ["n1", "n2"].map((node) => ({ node, slot }))),
  bars: [bar("a", "flow", [0, 1]), bar("b", "pstm", [2]), bar("c", "flow", [3], { began_s: null, state: "failed" })],
  gate_open_s: 1.5,
} as unknown as GanttReport;

interface Option {
  series: { name?: string; type: string; data: unknown[]; markLine?: { data: unknown[] } }[];
  yAxis: { data?: string[]; min?: number; max?: number };
}
const canvas = { colours: palette("light"), width: 800 };

describe("relative throughput by load", () => {
  it("has a line for each column with figures, in the order of the load", () => {
    const lines = relativeLines(TABLE);
    expect(lines.map(({ label }) => label)).toEqual(["compact", "distributed"]);
    expect(lines[0]?.points.map(({ load, value }) => [load, value])).toEqual([
      [25, 1],
      [100, 0.97],
    ]);
    expect(lines[1]?.points).toHaveLength(1);
  });
  it("draws intervals, and a line at what all is relative to", () => {
    const { series, yAxis } = relativeChart(TABLE, canvas) as unknown as Option;
    expect(series.map(({ type }) => type)).toEqual(["line", "line", "custom", "custom"]);
    expect(series[3]?.data).toEqual([[25, 1.28, 1.36]]);
    expect(series[0]?.markLine?.data).toEqual([{ yAxis: 1 }]);
    expect(yAxis.min).toBeLessThan(0.97);
    expect(yAxis.max).toBeGreaterThan(1.36);
  });
  it("says a ratio with its interval, and none where none is made", () => {
    expect(relativeText(figure(1.32, 1.28, 1.36))).toBe("1.32 (1.28 to 1.36)");
    expect(relativeText(figure(1))).toBe("1.00");
    expect(relativeText(figure(null))).toBe("none");
    expect(TABLE.rows.map(loadText)).toEqual(["2 flow, 1 pstm", "1 flow"]);
  });
});

describe("jobs over nodes", () => {
  it("has a row for each slot, and a block on each that a job takes", () => {
    const { series, yAxis } = ganttChart(GANTT, canvas) as unknown as Option;
    expect(yAxis.data).toEqual(["n1, slot 1", "n2, slot 1", "n1, slot 2", "n2, slot 2"]);
    expect(series.map(({ name, data }) => [name, data])).toEqual([
      ["flow", [[1, 2, 12, 0], [1, 2, 12, 1], [1, 12, 12, 3]]],
      ["pstm", [[1, 2, 12, 2]]],
    ]);
    expect(series[0]?.markLine?.data).toEqual([{ xAxis: 1.5 }]);
    expect(ganttHeight(GANTT)).toBeGreaterThan(150);
  });
});

describe("links and file I/O", () => {
  it("tells what nodes sent from what they received", () => {
    const series = { t_s: [0], columns: { "to_bytes_per_s:n1": [1], "from_bytes_per_s:n1": [2], cpu: [3] } };
    const { sent, received } = linkLines(series);
    expect(sent.map(({ column, label }) => [column, label])).toEqual([["from_bytes_per_s:n1", "n1"]]);
    expect(received).toHaveLength(1);
  });
  it("names parts of the run time", () => {
    expect(partText({ from_share: 0, to_share: 0.1 } as IoPhase)).toBe("first 10.0 %");
    expect(partText({ from_share: 0.1, to_share: 0.2 } as IoPhase)).toBe("10.0 to 20.0 %");
  });
});

import { describe, expect, it } from "vitest";
import { loadPowerChart, powerCurves, responseChart } from "../src/charts/graduated";
import { palette } from "../src/charts/palette";
import type { GraduatedReport, GraduatedVariant, LoadLevel, Spread } from "../src/lib/document";

const spread = (median: number, half?: number): Spread => ({
  n: half ? 6 : 1,
  median,
  low: half ? median - half : null,
  high: half ? median + half : null,
  is_range: false,
});

function level(share: number, watts: number | null, more: Partial<LoadLevel> = {}): LoadLevel {
  return {
    name: share ? `${100 * share} %` : "active idle",
    share,
    achieved_per_s: spread(1000 * share),
    watts: watts === null ? null : spread(watts, 2),
    per_watt: watts === null ? null : spread((1000 * share) / watts),
    p50_ms: share ? 1 : null,
    p95_ms: share ? 4 : null,
    p99_ms: share ? 9 : null,
    steady: share < 1,
    holds: true,
    ...more,
  } as LoadLevel;
}

const LEVELS = [level(1, 200), level(0.5, 150), level(0, 100)];
const variant = (levels = LEVELS, mark = ""): GraduatedVariant => ({ variant: "a", mark, levels }) as GraduatedVariant;
const report = (variants: GraduatedVariant[]): GraduatedReport => ({ over: "rate", unit: "operations/s", variants }) as GraduatedReport;

interface Drawn {
  name?: string;
  type: string;
  data: unknown[];
  markArea?: { data: [{ name: string; xAxis: number }, { xAxis: number }][] };
}
interface Option {
  series: Drawn[];
  xAxis: { name: string }[];
  yAxis: { data: string[] };
}
const canvas = { colours: palette("light"), width: 800 };
const drawn = (of: GraduatedVariant) => loadPowerChart(of, "operations/s", canvas) as unknown as Option;

describe("the load-power graph", () => {
  it("has active idle at the bottom, bars of performance per watt and a line of power", () => {
    const { yAxis, series } = drawn(variant());
    expect(yAxis.data).toEqual(["active idle", "50 %", "100 %"]);
    expect(series.find(({ type }) => type === "bar")?.data).toEqual([0, 500 / 150, 5]);
    expect(series.find(({ type }) => type === "line")?.data).toEqual([[100, 0], [150, 1], [200, 2]]);
  });
  it("draws intervals of both where there are any", () => {
    const whiskers = drawn(variant()).series.filter(({ type }) => type === "custom");
    expect(whiskers.map(({ data }) => data[1])).toEqual([
      [NaN, NaN, 1],
      [148, 152, 1],
    ]);
  });
  it("marks both axes where the watts are no measurement", () => {
    expect(drawn(variant(LEVELS, "estimated")).xAxis.map(({ name }) => name)).toEqual(["W (estimated)", "operations/s per watt (estimated)"]);
  });
  it("leaves a gap at a level without watts", () => {
    const { series } = drawn(variant([level(1, 200), level(0.5, null), level(0, 100)]));
    expect(series.find(({ type }) => type === "line")?.data).toEqual([[100, 0], [null, 1], [200, 2]]);
  });
});

describe("power over the load", () => {
  it("has a line for each configuration, and what power in proportion would be up to the highest", () => {
    const { series } = powerCurves(report([variant(), { ...variant(), variant: "b", mark: "simulated" }]), canvas) as unknown as Option;
    const lines = series.filter(({ type }) => type === "line");
    expect(lines.map(({ name }) => name)).toEqual(["a", "b (simulated)", "in proportion"]);
    expect(lines[0]?.data).toEqual([[0, 100], [50, 150], [100, 200]]);
    expect(lines[2]?.data).toEqual([[0, 0], [100, 200]]);
  });
});

describe("response times by load", () => {
  const { series } = responseChart(variant(), report([variant()]), canvas) as unknown as Option;
  it("leave out active idle, and mark what has no steady state", () => {
    expect(series.map(({ name }) => name)).toEqual(["median", "95 %", "99 %"]);
    expect(series[2]?.data).toEqual([
      { value: [50, 9], symbol: "circle" },
      { value: [100, 9], symbol: "emptyCircle" },
    ]);
    expect(series[0]?.markArea?.data.map(([from, to]) => [from.name, from.xAxis, to.xAxis])).toEqual([["no steady state", 96, 104]]);
  });
});

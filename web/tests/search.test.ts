import { describe, expect, it } from "vitest";
import { searchChart } from "../src/charts/search";
import { palette } from "../src/charts/palette";
import type { LevelReport, SearchReport } from "../src/lib/document";
import { approach, bracket, fate, kindText, levelText, quantity, since, span, stretches } from "../src/lib/search";

function level(value: number, more: Partial<LevelReport> = {}): LevelReport {
  return { trial: "t", level: value, kind: "ascent", of: null, raised: false, counts: true, holds: true, reason: "", at_s: null, ...more } as LevelReport;
}

function search(levels: LevelReport[], more: Partial<SearchReport> = {}): SearchReport {
  return { unit: "events/s", level: 100, low: 100, high: 110, approach: "fresh", method: "steps", window_s: 10, levels, ...more } as SearchReport;
}

const FAILED = level(110, { holds: false });

describe("the levels of a search", () => {
  it("tells what became of each, and leaves out what was tried again", () => {
    expect([level(1), FAILED, level(1, { counts: false, holds: false })].map(fate)).toEqual(["holds", "fails", "does not count"]);
  });
  it("joins levels that were tried for the same purpose, as often as that changes", () => {
    const levels = [level(1), level(2), level(2, { kind: "soak" }), level(2, { kind: "confirm" }), level(3)];
    expect(stretches(levels)).toEqual([
      { label: "ascent", from: 0, to: 1 },
      { label: "soak", from: 2, to: 2 },
      { label: "confirmation", from: 3, to: 3 },
      { label: "ascent", from: 4, to: 4 },
    ]);
  });
  it("says of a reason from when on it was seen, where that is known", () => {
    expect(since({ cause: "objective", text: "p99 was 80 ms", at_s: 31 })).toBe("p99 was 80 ms (from 31\u00a0s on)");
    expect(since({ cause: "failed", text: "the server ended", at_s: null })).toBe("the server ended");
  });
  it("names the share of a confirmation and a load that was raised", () => {
    expect(kindText(level(105, { kind: "confirm", of: 100 }))).toBe("confirmation at 105 %");
    expect(kindText(level(2, { raised: true }))).toBe("ascent, raised");
  });
  it("writes levels and times as they were asked for", () => {
    expect([142_000, 12.5].map(levelText)).toEqual(["142,000", "12.50"]);
    expect([60, 2.5, 3600].map(span)).toEqual(["60\u00a0s", "2.5\u00a0s", "3,600\u00a0s"]);
    expect(["p99 < 1000 ms", "new-order.p95 <= 5 ms", "loss = 0"].map(quantity)).toEqual(["p99", "new-order.p95", "loss"]);
  });
  it("says how levels were approached", () => {
    expect(approach(search([]))).toContain("each by a fresh trial (coarse, then fine steps)");
    expect(approach(search([], { approach: "raise", method: "bisection" }))).toContain("raising the load of a running trial");
  });
  it("has a bracket only where something failed", () => {
    expect(bracket(search([]))).toEqual([100, 110]);
    expect(bracket(search([], { high: null }))).toBeUndefined();
  });
});

describe("the chart of a search", () => {
  const canvas = { colours: palette("light"), width: 800 };
  interface Drawn {
    name?: string;
    data: unknown[];
    markLine?: { data: { yAxis: number }[] };
    markArea?: { data: [{ yAxis?: number }, { yAxis?: number }][] };
  }
  const drawn = (of: SearchReport) => (searchChart(of, canvas) as { series: Drawn[] }).series;

  it("puts every level once, at its place in the order", () => {
    const series = drawn(search([level(50), FAILED, level(100), level(120, { counts: false })]));
    const points = series.slice(1).map(({ name, data }) => [name, (data as { value: number[] }[]).map(({ value }) => value)]);
    expect(points).toEqual([
      ["holds", [[1, 50], [3, 100]]],
      ["fails", [[2, 110]]],
      ["does not count", [[4, 120]]],
    ]);
  });
  it("draws the level found and its bracket, and neither where there is none", () => {
    const [path] = drawn(search([level(100), FAILED]));
    expect(path?.markLine?.data).toEqual([{ yAxis: 100 }]);
    expect(path?.markArea?.data.filter(([from]) => from.yAxis !== undefined).map(([from, to]) => [from.yAxis, to.yAxis])).toEqual([[100, 110]]);
    const [other] = drawn(search([FAILED], { level: null, low: null }));
    expect(other?.markLine?.data).toEqual([]);
    expect(other?.markArea?.data.filter(([from]) => from.yAxis !== undefined)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import type { ComparisonReport, Figure, ReportDocument } from "../src/lib/document";
import { explain, judgedMetrics, ownMeans, verdictText } from "../src/lib/verdict";

const COMPARISON: ComparisonReport = {
  other_trials: null,
  metric: "a", candidate: "two", baseline: "one", role: "baseline", ratio: 0.98, low: 0.97, high: 0.99,
  baseline_mean: 900, candidate_mean: 882, interval_confidence: 0.95, effect_percent: -2, p_value: 0.01,
  p_adjusted: 0.01, p_by_signs: null, test: "paired t", freedom: 5, n_baseline: 6, n_candidate: 6,
  repeats_needed: 4, margin_percent: null, p_beyond_margin: null, within_margin: false,
  least_detectable_percent: 1, least_detectable_range: null, verdict: "worse", look: null, differences: [],
};

function figure(compared: number | null): Figure {
  return { metric: "a", n: 6, median: 1, low: null, high: null, interval_is_range: false, compared, values: [], trials: [], outliers: [] };
}

describe("verdicts", () => {
  it("are told with the margin where one was given", () => {
    expect(verdictText(COMPARISON)).toBe("worse");
    const within = { ...COMPARISON, margin_percent: 3, within_margin: true, p_beyond_margin: 0.002 };
    expect(verdictText(within)).toBe("worse, by 3 % at most");
    expect(verdictText({ ...within, verdict: "equivalent" })).toBe("no change larger than 3 %");
    expect(explain(within)).toContain("No change is larger than 3 %");
  });
  it("of a look say when it was, and that its interval tells of the margin", () => {
    const look = { planned: [4, 8], after: 4, t: 2.5, limit: 4.33, early: false };
    const within = { ...COMPARISON, look, p_value: null, p_adjusted: null, p_beyond_margin: null };
    const text = explain({ ...within, verdict: "equivalent", margin_percent: 3, within_margin: true });
    expect(text).not.toContain("adjusted p");
    expect(text).toContain("Look after 4 of 8 blocks: |t| 2.50, stops at 4.33.");
    expect(text).toContain("No change is larger than 3 % (the interval lies within)");
  });
  it("are shown with the figures of their own where those of the table contradict them", () => {
    expect(ownMeans(COMPARISON, figure(1000), figure(980))).toBeUndefined();
    expect(ownMeans(COMPARISON, figure(1000), figure(1010))).toEqual([900, 882]);
    expect(ownMeans(COMPARISON, figure(null), figure(1010))).toBeUndefined();
  });
  it("are about the headline alone in a document of an earlier release", () => {
    const metrics = [{ name: "a", label: "A", unit: "s", higher_is_better: false }];
    const earlier = { metric: "a", metrics } as unknown as ReportDocument;
    expect(judgedMetrics(earlier).map(({ label }) => label)).toEqual(["A"]);
    expect(judgedMetrics({ ...earlier, judged: ["b", "a"] }).map(({ name }) => name)).toEqual(["b", "a"]);
  });
});

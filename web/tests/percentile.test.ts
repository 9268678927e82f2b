import { describe, expect, it } from "vitest";
import { fromAxis, LAST_PERCENTILE, percentileLabel, toAxis } from "../src/lib/percentile";

describe("the percentile axis", () => {
  it("gives each nine the same room", () => {
    expect(toAxis(0)).toBe(1);
    expect(toAxis(90)).toBeCloseTo(10);
    expect(toAxis(99)).toBeCloseTo(100);
    expect(toAxis(99.9)).toBeCloseTo(1000);
  });
  it("is undone by its inverse", () => {
    for (const percentile of [0, 12.5, 50, 95, 99.99]) expect(fromAxis(toAxis(percentile))).toBeCloseTo(percentile, 6);
  });
  it("ends where the axis ends", () => {
    expect(toAxis(100)).toBe(toAxis(LAST_PERCENTILE));
  });
  it("writes as many nines as there are", () => {
    expect([1, 10, 100, 1000, 10_000, 100_000].map((place) => percentileLabel(fromAxis(place)))).toEqual([
      "0", "90", "99", "99.9", "99.99", "99.999",
    ]);
  });
});

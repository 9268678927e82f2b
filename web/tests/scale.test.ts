import { describe, expect, it } from "vitest";
import { palette } from "../src/charts/palette";
import { linearLine, ofLinear, residualsChart, scaleChart, speedUpChart } from "../src/charts/scale";
import type { ScaleFit, ScaleReport } from "../src/lib/document";

const FIT = {
  peak_n: 15.3,
  peak_interval: [13, 18],
  curve: [1, 32].map((n) => ({ n, value: 10 * n, low: 9 * n, high: 12 * n })),
} as unknown as ScaleFit;

function scale(fit: ScaleFit | null): ScaleReport {
  const points = [1, 8, 32].map((n) => ({ n, median: 10 * n, low: null, high: null, values: [9 * n, 10 * n], trials: [], fitted: null, residual_percent: n === 8 ? -3 : null }));
  return { label: "users", unit: "tx/s", points, fit } as unknown as ScaleReport;
}

interface Drawn {
  series: { name?: string; stack?: string; data: number[][]; markLine?: { data: unknown[] }; markArea?: { data: unknown[] } }[];
  xAxis: { max: number };
}
const canvas = { colours: palette("light"), width: 800 };
const drawn = (of: ScaleReport) => scaleChart(of, canvas) as unknown as Drawn;

describe("the chart of a scale", () => {
  it("draws the law and its band as far as was measured, and the peak", () => {
    const { series } = drawn(scale(FIT));
    expect(series.filter(({ stack }) => stack).map(({ data }) => data)).toEqual([[[1, 9], [32, 288]], [[1, 3], [32, 96]]]);
    const law = series.find(({ name }) => name === "fitted law");
    expect(law?.data).toEqual([[1, 10], [32, 320]]);
    expect(law?.markLine?.data).toEqual([{ xAxis: 15.3 }]);
  });
  it("marks no peak that was not within the measured range", () => {
    const law = drawn(scale({ ...FIT, peak_n: null, peak_interval: null })).series.find(({ name }) => name === "fitted law");
    expect(law?.markLine?.data).toEqual([]);
    expect(law?.markArea?.data).toEqual([]);
  });
  it("draws every trial, and no law without a fit", () => {
    const { series } = drawn(scale(null));
    expect(series.map(({ name }) => name)).not.toContain("fitted law");
    expect(series.some(({ data }) => data.length === 6)).toBe(true);
  });
  it("draws the linear line no further than a little above what was measured", () => {
    expect(linearLine(scale(null))).toEqual([[1, 10], [32, 320]]);
    const flat = { ...scale(null), points: [1, 32].map((n) => ({ n, median: 10, high: null, values: [10] })) } as unknown as ScaleReport;
    const [, [end, top]] = linearLine(flat) as [number[], [number, number]];
    expect(end).toBeCloseTo(1.1);
    expect(top).toBeCloseTo(11);
    expect(flat.points.map((point) => ofLinear(flat, point))).toEqual([100, 3.125]);
  });
  it("sets published growth beside ours as times the first", () => {
    const published = [{ title: "others", points: [{ n: 1, ratio: 1 }, { n: 40, ratio: 20 }] }];
    const { series, xAxis } = speedUpChart({ ...scale(null), published } as unknown as ScaleReport, canvas) as unknown as Drawn;
    expect(series.map(({ name, data }) => [name, data])).toEqual([
      ["this result", [[1, 1], [8, 8], [32, 32]]],
      ["published: others", [[1, 1], [40, 20]]],
      ["linear", [[1, 1], [40, 40]]],
    ]);
    expect(xAxis.max).toBeCloseTo(41.2);
  });
  it("has residuals of fitted points only, on the same axis", () => {
    const residuals = residualsChart(scale(FIT), canvas) as unknown as Drawn;
    expect(residuals.series.map(({ data }) => data)).toEqual([[[8, -3]], [[8, -3]]]);
    expect(residuals.xAxis.max).toBe(drawn(scale(FIT)).xAxis.max);
  });
});

import { describe, expect, it } from "vitest";
import { sweepChart } from "../src/charts/sweep";
import type { MetricInfo, VariantReport } from "../src/lib/document";
import { sweepShape } from "../src/lib/sweep";

function variant(levels: Record<string, string | number | boolean>): VariantReport {
  return { name: JSON.stringify(levels), levels, figures: [], unsafe: [] } as unknown as VariantReport;
}

describe("a sweep as lines", () => {
  it("puts the factor with the most levels along the axis", () => {
    const variants = [1, 2, 4].flatMap((users) => ["a", "b"].map((style) => variant({ "profile.users": users, "workload.style": style })));
    const shape = sweepShape(variants);
    expect(shape?.factor).toBe("profile.users");
    expect(shape?.numeric).toBe(true);
    expect(shape?.lines.map((line) => line.label)).toEqual(["style a", "style b"]);
    expect(shape?.lines[0]?.variants.map((each) => each?.levels["profile.users"])).toEqual([1, 2, 4]);
  });
  it("draws no line through two levels or through a matrix with holes", () => {
    expect(sweepShape([variant({ f: 1 }), variant({ f: 2 })])).toBeUndefined();
    expect(sweepShape([variant({ f: 1 }), variant({ f: 2 }), variant({ g: 3 })])).toBeUndefined();
  });
  it("names levels that are words, and draws nothing between them", () => {
    const shape = sweepShape(["loop:ext4", "loop:xfs", "tmpfs"].map((data) => variant({ "storage.data": data })));
    if (!shape) throw new Error("no shape");
    const metric = { name: "baseline", label: "baseline", unit: "MB/s" } as MetricInfo;
    const chart = sweepChart(shape, metric, { colours: { series: [] } } as unknown as Parameters<typeof sweepChart>[2]);
    const { xAxis, series } = chart as { xAxis: { data: string[]; axisLabel: object }; series: { lineStyle?: { width: number } }[] };
    expect(xAxis.data).toEqual(["loop:ext4", "loop:xfs", "tmpfs"]);
    expect(xAxis.axisLabel).not.toHaveProperty("formatter");
    expect(series[0]?.lineStyle?.width).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { depthChart, depthGroups } from "../src/charts/depths";
import { palette } from "../src/charts/palette";
import type { DepthCurve } from "../src/lib/document";

const canvas = { colours: palette("light"), width: 800 };
const point = (in_flight: number, rate: number, p50_ms: number | null) => ({ title: `Q${in_flight}`, in_flight, rate, p50_ms, p99_ms: null });
const curve = (variant: string, label: string, knee: number | null): DepthCurve => ({
  variant,
  label,
  knee,
  points: [point(1, 40, 0.1), point(4, 120, 0.13), point(16, 150, 0.4), point(64, 155, null)],
});

describe("queue-depth curves", () => {
  it("are drawn together where access and block are the same", () => {
    const curves = [curve("one", "randread 4 kB", 1), curve("one", "read 1 MB", null), curve("two", "randread 4 kB", 1)];
    expect(depthGroups(curves).map(({ label, curves }) => [label, curves.length])).toEqual([
      ["randread 4 kB", 2],
      ["read 1 MB", 1],
    ]);
  });

  it("have a point for each depth whose time is known, the knee the largest", () => {
    const { series } = depthChart([curve("one", "randread 4 kB", 1)], "MB/s", canvas) as {
      series: { data: { value: number[]; symbolSize: number }[] }[];
    };
    expect(series[0]?.data.map(({ value }) => value)).toEqual([
      [40, 0.1],
      [120, 0.13],
      [150, 0.4],
    ]);
    expect(series[0]?.data.map(({ symbolSize }) => symbolSize)).toEqual([6, 13, 6]);
  });
});

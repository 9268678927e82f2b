import type { EChartsCoreOption } from "echarts/core";
import type { DepthCurve } from "../lib/document";
import { number } from "../lib/format";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";

/** Curves of one kind of access, a line for each variant. */
export function depthGroups(curves: DepthCurve[]): { label: string; curves: DepthCurve[] }[] {
  const labels = [...new Set(curves.map(({ label }) => label))];
  return labels.map((label) => ({ label, curves: curves.filter((curve) => curve.label === label) }));
}

/** Throughput against the median time of a request; each point a depth, the knee marked. */
export function depthChart(curves: DepthCurve[], unit: string, { colours }: Canvas): EChartsCoreOption {
  const drawn = curves.map((curve) => ({ ...curve, known: curve.points.filter(({ p50_ms }) => p50_ms !== null) }));
  return {
    textStyle: textStyle(colours),
    grid: { left: 72, right: 28, top: drawn.length > 1 ? 40 : 16, bottom: 44 },
    legend: { show: drawn.length > 1, top: 0, left: 0, itemWidth: 14, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => {
        const { seriesIndex, dataIndex } = params as { seriesIndex: number; dataIndex: number };
        const curve = drawn[seriesIndex];
        const point = curve?.known[dataIndex];
        if (!curve || !point) return "";
        const knee = curve.points[curve.knee ?? -1] === point ? ", the knee" : "";
        return [
          `<b>${safe(curve.variant)}, ${safe(point.title)}</b>${knee}`,
          `${point.in_flight} in flight: ${number(point.rate)} ${safe(unit)}`,
          `median ${number(point.p50_ms)} ms${point.p99_ms === null ? "" : `, 99 % ${number(point.p99_ms)} ms`}`,
        ].join("<br>");
      },
    },
    xAxis: { ...valueAxis(colours, unit), min: 0 },
    yAxis: { ...valueAxis(colours, "median time, ms"), type: "log", nameGap: 48 },
    series: drawn.map(({ variant, known, points, knee }, place) => ({
      name: variant,
      type: "line",
      color: colours.series[place % colours.series.length],
      lineStyle: { width: 1.6 },
      symbol: "circle",
      data: known.map((point) => {
        const isKnee = points[knee ?? -1] === point;
        const label = { show: true, position: "top", color: colours.quiet, fontSize: 10, formatter: String(point.in_flight) };
        return { value: [point.rate, point.p50_ms], symbolSize: isKnee ? 13 : 6, label };
      }),
    })),
  };
}

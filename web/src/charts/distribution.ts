import type { EChartsCoreOption } from "echarts/core";
import type { Curve } from "../lib/document";
import { number } from "../lib/format";
import { fromAxis, percentileLabel, toAxis } from "../lib/percentile";
import { legendRows, safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";

/** Latency over the percentile axis; both logarithmic, so body and tail are read alike. */
export function distributionChart(curves: Curve[], { colours, width }: Canvas): EChartsCoreOption {
  const names = [...new Set(curves.map((curve) => curve.operation))];
  const last = Math.max(10, ...curves.map((curve) => toAxis(curve.points.at(-1)?.[0] ?? 90)));
  return {
    textStyle: textStyle(colours),
    grid: { left: 58, right: 18, top: Math.max(44, 14 + 16 * legendRows(names, width)), bottom: 42 },
    legend: {
      top: 0,
      left: 0,
      icon: "roundRect",
      itemWidth: 12,
      itemHeight: 3,
      textStyle: { color: colours.text },
      data: names,
    },
    tooltip: {
      ...tooltip(colours),
      trigger: "item",
      formatter: (params: unknown) => {
        const { seriesName, value } = params as { seriesName: string; value: [number, number] };
        return `${safe(seriesName)}<br>${percentileLabel(fromAxis(value[0]))} %: ${number(value[1])} ms`;
      },
    },
    xAxis: {
      ...valueAxis(colours, "percentile of operations, %"),
      type: "log",
      logBase: 10,
      min: 1,
      max: 10 ** Math.ceil(Math.log10(last) - 1e-9),
      axisLabel: { color: colours.quiet, formatter: (place: number) => percentileLabel(fromAxis(place)) },
    },
    yAxis: { ...valueAxis(colours, "ms"), type: "log", nameGap: 42 },
    series: curves.map((curve) => ({
      name: curve.operation,
      type: "line",
      showSymbol: true,
      symbolSize: curve.kind === "service" ? 0 : 3,
      symbol: "circle",
      lineStyle: { width: 1.6, type: curve.kind === "service" ? "dotted" : "solid" },
      color: colours.series[names.indexOf(curve.operation) % colours.series.length],
      data: curve.points.filter(([, value]) => value > 0).map(([percentile, value]) => [toAxis(percentile), value]),
    })),
  };
}

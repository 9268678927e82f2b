import type { EChartsCoreOption } from "echarts/core";
import { ratio } from "../lib/format";
import { safe, textStyle, tooltip, valueAxis } from "./common";
import type { Canvas } from "./echarts";

/** A ladder as ratios to its own baseline. */
export interface Shape {
  label: string;
  rungs: { name: string; ratio: number }[];
}

/** Two ladders by the number of the rung: their shapes side by side, never their figures. */
export function shapesChart(shapes: Shape[], { colours }: Canvas): EChartsCoreOption {
  const longest = Math.max(...shapes.map((shape) => shape.rungs.length));
  return {
    textStyle: textStyle(colours),
    grid: { left: 50, right: 18, top: 34, bottom: 42 },
    legend: { top: 0, left: 0, itemWidth: 16, itemHeight: 8, textStyle: { color: colours.text } },
    tooltip: {
      ...tooltip(colours),
      formatter: (params: unknown) => {
        const { seriesIndex, value } = params as { seriesIndex: number; value: [number, number] };
        const name = shapes[seriesIndex]?.rungs[value[0]]?.name ?? "";
        return `${safe(name)}: ${ratio(value[1])} times its baseline`;
      },
    },
    xAxis: {
      ...valueAxis(colours, "rung, 0 is the baseline"),
      min: 0,
      max: Math.max(longest - 1, 1),
      minInterval: 1,
    },
    yAxis: { ...valueAxis(colours, "times the baseline"), nameGap: 34, scale: true },
    series: shapes.map((shape, index) => ({
      name: shape.label,
      type: "line",
      symbol: index === 0 ? "circle" : "emptyCircle",
      symbolSize: 8,
      lineStyle: { width: 2, type: index === 0 ? "solid" : "dashed" },
      color: colours.series[index],
      data: shape.rungs.map((rung, place) => [place, rung.ratio]),
    })),
  };
}

import { tick } from "../lib/format";
import type { Palette } from "./palette";

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** Text of a chart. */
export function textStyle(colours: Palette) {
  return { fontFamily: FONT, fontSize: 12, color: colours.text };
}

/** A figure axis: quiet lines, short figures, its unit at the end. */
export function valueAxis(colours: Palette, name: string) {
  return {
    type: "value" as const,
    name,
    nameLocation: "middle" as const,
    nameGap: 28,
    nameTextStyle: { color: colours.quiet },
    axisLabel: { color: colours.quiet, formatter: (value: number) => tick(value), hideOverlap: true },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: colours.faint } },
  };
}

/** Box that follows the pointer. */
export function tooltip(colours: Palette) {
  return {
    confine: true,
    backgroundColor: colours.paper,
    borderColor: colours.line,
    textStyle: { ...textStyle(colours) },
  };
}

/** Text that came from a result, made safe for the HTML of a tooltip. */
export function safe(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

import { tick } from "../lib/format";
import type { Palette } from "./palette";

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const LETTER = 6.8; // of a legend: its width in pixels
const SIGN = 30; // likewise, with the room between two entries

/** Rows that a legend takes at a width in pixels. */
export function legendRows(names: string[], width: number): number {
  let [rows, used] = [1, 0];
  for (const name of names) {
    const own = name.length * LETTER + SIGN;
    if (used > 0 && used + own > width) [rows, used] = [rows + 1, 0];
    used += own;
  }
  return rows;
}

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

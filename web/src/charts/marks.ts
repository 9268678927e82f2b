import type { Mark } from "../lib/document";
import { isBand, markLabel } from "../lib/marks";
import type { Canvas } from "./echarts";
import type { Palette } from "./palette";

/** Room that a written mark needs, in pixels: a line of text, turned. */
const LABEL_WIDTH = 17;
/** Of the chart's width, what written marks may take together, so that the lines stay readable. */
const MOST_SHARE = 0.28;
/** Bands let lines and phases show through. */
export const BAND_OPACITY = 0.2;
const DASHES = ["solid", "dashed", "dotted"] as const;

export interface MarkStyle {
  colour: string;
  dash: (typeof DASHES)[number];
}

/** How the lines of a kind look: told apart by dashes too, not by colour alone. */
export function markStyle(place: number, colours: Palette): MarkStyle {
  const own = colours.series.slice(3);
  return { colour: own[place % own.length] ?? colours.quiet, dash: DASHES[place % DASHES.length] ?? "solid" };
}

interface Marked {
  marks?: Mark[];
  kinds?: string[];
  labelled?: boolean;
}

/**
 * A line from top to bottom for each mark of these kinds that is a moment; written beside it what it is, if there is
 * room for all.
 */
export function markLines({ marks = [], kinds = [], labelled = false }: Marked, { colours, width }: Canvas) {
  const moments = marks.filter((mark) => !isBand(mark));
  const written = labelled && moments.length * LABEL_WIDTH <= MOST_SHARE * width;
  return kinds.map((kind, place) => {
    const { colour, dash } = markStyle(place, colours);
    return {
      type: "line",
      data: [],
      silent: true,
      tooltip: { show: false },
      markLine: {
        silent: true,
        symbol: "none",
        lineStyle: { color: colour, type: dash, width: 1.2 },
        label: { show: written, position: "insideEndTop", fontSize: 11, color: colour, distance: 3 },
        data: moments
          .filter((mark) => mark.kind === kind)
          .map((mark) => ({ xAxis: mark.t_s, label: { formatter: markLabel(mark) } })),
      },
    };
  });
}

/** A band over the time that a mark lasted, with what it is. */
export function markBands(marks: Mark[], colours: Palette) {
  return marks.filter(isBand).map((mark) => [
    {
      name: markLabel(mark),
      xAxis: mark.t_s,
      itemStyle: { color: colours.quiet, opacity: BAND_OPACITY },
      label: { position: "insideBottom", distance: 4, color: colours.text, textBorderColor: colours.paper, textBorderWidth: 3 },
    },
    { xAxis: mark.to_s },
  ]);
}

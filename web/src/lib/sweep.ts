import type { VariantReport } from "./document";

type Level = string | number | boolean;

/** A sweep as lines: one factor along the axis, one line for each combination of the others. */
export interface SweepShape {
  factor: string;
  /** In the order of the sweep; numbers are placed by their value. */
  levels: Level[];
  numeric: boolean;
  lines: { label: string; variants: (VariantReport | undefined)[] }[];
}

const FEWEST_LEVELS = 3;

/** The lines of a full sweep, or nothing when no factor has levels enough to make a line. */
export function sweepShape(variants: VariantReport[]): SweepShape | undefined {
  const factors = [...new Set(variants.flatMap((variant) => Object.keys(variant.levels)))];
  if (!factors.length || variants.some((variant) => factors.some((factor) => variant.levels[factor] === undefined))) {
    return undefined;
  }
  const levelsOf = (factor: string) => [...new Set(variants.map((variant) => variant.levels[factor] as Level))];
  const factor = factors.reduce((best, each) => (levelsOf(each).length > levelsOf(best).length ? each : best));
  const levels = levelsOf(factor);
  if (levels.length < FEWEST_LEVELS) return undefined;
  const others = factors.filter((each) => each !== factor);
  const labelOf = (variant: VariantReport) =>
    others.map((each) => `${each.split(".").slice(1).join(".")} ${String(variant.levels[each])}`).join(", ");
  const labels = [...new Set(variants.map(labelOf))];
  return {
    factor,
    levels,
    numeric: levels.every((level) => typeof level === "number"),
    lines: labels.map((label) => ({
      label,
      variants: levels.map((level) => variants.find((v) => v.levels[factor] === level && labelOf(v) === label)),
    })),
  };
}

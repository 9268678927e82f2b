import type { ComparisonReport, Figure, ReportDocument, VariantReport } from "./document";
import { number, pValue, percent, percentInterval } from "./format";

/** Whether the variant stands in a table of changes: its mean is shown, which agrees with them in sign. */
export function isCompared(figure: Figure | undefined): boolean {
  return typeof figure?.compared === "number";
}

/** What verdicts are about; the median where nothing is compared. */
export function meanOf(figure: Figure | undefined): number | undefined {
  return figure?.compared ?? figure?.median;
}

/** A verdict never rests on colour alone. */
export const SYMBOL: Record<ComparisonReport["verdict"], string> = {
  better: "▲",
  worse: "▼",
  "no detectable change": "=",
  "too few repeats": "?",
};

/** The role of the comparison that a rung's verdict rests on: its own step where the design has steps. */
export function stepRole(document: ReportDocument): ComparisonReport["role"] | undefined {
  const roles = new Set(document.comparisons.map((comparison) => comparison.role));
  return (["previous", "baseline", "pair"] as const).find((role) => roles.has(role));
}

/** The comparison of a variant in a role. */
export function comparisonOf(
  document: ReportDocument,
  variant: VariantReport,
  role: ComparisonReport["role"] | undefined,
): ComparisonReport | undefined {
  return document.comparisons.find((c) => c.candidate === variant.name && c.role === role);
}

/** One line that says what the verdict rests on. */
export function explain(comparison: ComparisonReport): string {
  const sure =
    comparison.low === null
      ? "no interval from so few trials"
      : `${number(comparison.interval_confidence * 100, 4)} % interval ${percentInterval(comparison.low, comparison.high)}`;
  const blocks = comparison.test === "unpaired t" ? "trials" : "blocks";
  const count =
    comparison.n_candidate === comparison.n_baseline
      ? `${comparison.n_candidate} ${blocks}`
      : `${comparison.n_candidate} against ${comparison.n_baseline} trials`;
  const signs = typeof comparison.p_by_signs === "number" ? ` (by signs alone ${pValue(comparison.p_by_signs)})` : "";
  const head = `${percent(comparison.effect_percent)} against ${comparison.baseline}, ${sure}; adjusted p ${pValue(comparison.p_adjusted)}${signs}, ${comparison.test}, ${count}.`;
  if (comparison.verdict === "too few repeats") {
    return `${head} So few trials can show no difference: ${comparison.repeats_needed ?? "more"} of each are needed.`;
  }
  if (comparison.verdict === "no detectable change" && comparison.least_detectable_percent !== null) {
    const span = comparison.least_detectable_range;
    const likely = span ? ` (between ${number(span[0], 2)} and ${number(span[1], 2)} %, as so few trials tell little of their scatter)` : "";
    return `${head} A true difference of ${number(comparison.least_detectable_percent, 2)} %${likely} would have been found four times in five.`;
  }
  return head;
}

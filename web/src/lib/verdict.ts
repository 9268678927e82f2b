import type { ComparisonReport, ReportDocument, VariantReport } from "./document";
import { number, pValue, percent, percentInterval } from "./format";

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
export function explain(comparison: ComparisonReport, confidence: number): string {
  const sure =
    comparison.low === null
      ? "no interval from a single trial"
      : `${number(confidence * 100, 2)} % interval ${percentInterval(comparison.low, comparison.high)}`;
  const counts = `${comparison.n_candidate} against ${comparison.n_baseline} trials`;
  const head = `${percent(comparison.effect_percent)} against ${comparison.baseline}, ${sure}; adjusted p ${pValue(comparison.p_adjusted)}, ${counts}.`;
  if (comparison.verdict === "too few repeats") {
    return `${head} So few trials can show no difference: ${comparison.repeats_needed ?? "more"} of each are needed.`;
  }
  if (comparison.verdict === "no detectable change" && comparison.least_detectable_percent !== null) {
    return `${head} A true difference of ${number(comparison.least_detectable_percent, 2)} % would have been found four times in five.`;
  }
  return head;
}

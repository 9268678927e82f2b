import type { ComparisonReport, Figure, MetricInfo, ReportDocument, VariantReport } from "./document";
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
  equivalent: "≈",
  "no detectable change": "=",
  "too few repeats": "?",
  "not decided yet": "?",
};

/** The answer in words: `no change larger than 3 %`, `better, by 3 % at most`. */
export function verdictText({ verdict, within_margin, margin_percent }: ComparisonReport): string {
  if (!within_margin || typeof margin_percent !== "number") return verdict;
  const margin = `${margin_percent} %`;
  return verdict === "equivalent" ? `no change larger than ${margin}` : `${verdict}, by ${margin} at most`;
}

/** The metrics that verdicts are about, that of the headline first. */
export function judgedMetrics(document: ReportDocument): MetricInfo[] {
  const names = document.judged?.length ? document.judged : [document.metric];
  return names.map(
    (name) =>
      document.metrics.find((metric) => metric.name === name) ?? { name, label: name, unit: "", higher_is_better: null, mark: "" },
  );
}

/** The two means that a change is of, where the figures shown of the two are of other trials and contradict it. */
export function ownMeans(
  comparison: ComparisonReport,
  baseline: Figure | undefined,
  candidate: Figure | undefined,
): [number, number] | undefined {
  const { baseline_mean: from, candidate_mean: to, ratio } = comparison;
  const before = baseline?.compared;
  const after = candidate?.compared;
  if (typeof from !== "number" || typeof to !== "number") return undefined;
  if (typeof before !== "number" || typeof after !== "number") return undefined;
  return (after - before) * (ratio - 1) < 0 ? [from, to] : undefined;
}

/** The role of the comparison that a rung's verdict rests on: its own step where the design has steps. */
export function stepRole(document: ReportDocument): ComparisonReport["role"] | undefined {
  const roles = new Set(document.comparisons.map((comparison) => comparison.role));
  return (["previous", "baseline", "pair"] as const).find((role) => roles.has(role));
}

/** The comparison of a variant on a metric in a role. */
export function comparisonOf(
  document: ReportDocument,
  variant: VariantReport,
  role: ComparisonReport["role"] | undefined,
  metric: string,
): ComparisonReport | undefined {
  return document.comparisons.find((c) => c.candidate === variant.name && c.role === role && c.metric === metric);
}

/** At which look it was judged, of an experiment that may stop at looks. */
function atLook(comparison: ComparisonReport): string {
  const look = comparison.look;
  if (!look) {
    return "";
  }
  const most = look.planned[look.planned.length - 1];
  const seen = look.t === null ? "without scatter" : `|t| ${number(look.t, 3)}`;
  const early = look.early ? " An estimate that stopped early is a little larger than the true change; the interval allows for all looks." : "";
  return ` Look after ${look.after} of ${most} blocks: ${seen}, stops at ${number(look.limit, 3)}.${early}`;
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
  const p = comparison.p_adjusted === null ? "" : `; adjusted p ${pValue(comparison.p_adjusted)}${signs}`;
  const head = `${percent(comparison.effect_percent)} against ${comparison.baseline}, ${sure}${p}, ${comparison.test}, ${count}.${atLook(comparison)}`;
  if (comparison.verdict === "too few repeats") {
    return `${head} So few trials can show no difference: ${comparison.repeats_needed ?? "more"} of each are needed.`;
  }
  if (comparison.within_margin) {
    const p = comparison.p_beyond_margin;
    const how = typeof p === "number" ? `two one-sided tests, adjusted p ${pValue(p)}` : "the interval lies within";
    return `${head} No change is larger than ${comparison.margin_percent} % (${how}).`;
  }
  if (comparison.verdict === "no detectable change" && comparison.least_detectable_percent !== null) {
    const span = comparison.least_detectable_range;
    const likely = span ? ` (between ${number(span[0], 2)} and ${number(span[1], 2)} %, as so few trials tell little of their scatter)` : "";
    return `${head} A true difference of ${number(comparison.least_detectable_percent, 2)} %${likely} would have been found four times in five.`;
  }
  return head;
}

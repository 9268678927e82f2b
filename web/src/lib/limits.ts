import type { LimitReport } from "./document";

/** What limited a system, in a sentence or two; where it was not found, that. */
export function limitSentence({ limit, evidence, times, trials }: LimitReport): string {
  const found = limit ? `${upper(limit)}. ${upper(evidence)}.` : "Not found: nothing that was looked at was full.";
  return trials > 1 ? `${found} So in ${times} of ${trials} trials.` : found;
}

/** Whose it is: a variant where there are several, a measured phase where there are. */
export function limitTitle({ variant, phase }: LimitReport, several: boolean): string {
  return [...(several ? [variant] : []), ...(phase ? [phase] : [])].join(", ");
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

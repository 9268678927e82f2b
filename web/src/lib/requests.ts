import type { PhaseTiming, RequestFigures, RequestRow, TrialResult } from "./document";

/** A request of a trial, with the operation that it is made of. */
export interface MadeRequest {
  operation: string;
  request: TrialResult["operations"][number]["requests"][number];
}

/** The requests of all operations of a trial; older records have none. */
export function requestsOf({ operations }: TrialResult): MadeRequest[] {
  return operations.flatMap(({ name, requests }) => (requests ?? []).map((request) => ({ operation: name, request })));
}

/** The variants that have requests, in the order of their names here. */
export function variantsOf(rows: RequestRow[], names: string[]): string[] {
  return names.filter((name) => rows.some(({ figures }) => figures.some(({ variant }) => variant === name)));
}

/** The figures of one variant in a row, if it has them. */
export function ofVariant({ figures }: RequestRow, variant: string): RequestFigures | undefined {
  return figures.find((each) => each.variant === variant);
}

/** Counts by class, the most frequent first: `12 × status_500, 3 × reset`; empty for none. */
export function classes(counts: Record<string, number>): string {
  return Object.entries(counts)
    .sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .map(([name, count]) => `${count.toLocaleString("en-US")} × ${name}`)
    .join(", ");
}

/** Which share of the answers that ended well had each mark: `cached 81.3 %`; empty for none. */
export function marks(had: Record<string, number> | undefined, count: number): string {
  return Object.entries(had ?? {})
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, marked]) => `${name} ${(count ? (100 * marked) / count : 0).toFixed(1)} %`)
    .join(", ");
}

/** The phases beside the measured ones that are worth a line: users left in it, or operations failed. */
export function phasesTold({ phases }: TrialResult): PhaseTiming[] {
  return phases.filter(({ kind, errors }) => kind !== "measure" && (kind === "drain" || Object.keys(errors ?? {}).length > 0));
}

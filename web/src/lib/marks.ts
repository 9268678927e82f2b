import type { Mark, Watched } from "./document";

/** Marks of one kind. */
export interface MarkKind {
  kind: string;
  /** In words: `segment switch`. */
  label: string;
  count: number;
  /** Whether they last, and are bands. */
  bands: boolean;
}

/** A mark that lasted. */
export type Band = Mark & { to_s: number };

export function isBand(mark: Mark): mark is Band {
  return mark.to_s !== null;
}

/** The kinds of marks of a trial: those that the workload names, then in the order in which they first come. */
export function markKinds(marks: Mark[], watched: Watched | null): MarkKind[] {
  const present = new Set(marks.map(({ kind }) => kind));
  const counts = new Map((watched?.marks ?? []).filter((kind) => present.has(kind)).map((kind) => [kind, 0]));
  for (const { kind } of marks) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const lasting = new Set(marks.filter(isBand).map(({ kind }) => kind));
  return [...counts].map(([kind, count]) => ({ kind, label: words(kind), count, bands: lasting.has(kind) }));
}

/** Kinds that are drawn before anybody chooses: bands, and the lines that the workload names, or all. */
export function shownAtFirst(kinds: MarkKind[], watched: Watched | null): string[] {
  const named = watched?.marks ?? [];
  return kinds.filter(({ kind, bands }) => bands || !named.length || named.includes(kind)).map(({ kind }) => kind);
}

/** What a mark says beside its line or in its band: `segment switch 7`. */
export function markLabel({ kind, data }: Mark): string {
  return typeof data.number === "number" ? `${words(kind)} ${data.number}` : words(kind);
}

function words(kind: string): string {
  return kind.replaceAll(/[-_]/g, " ");
}

import type { Line, Second } from "../charts/time";
import type { Series, TrialReport, Watched } from "./document";
import { column, number } from "./format";

const OF_ONE: [string, string][] = [
  ["p50_ms", "median"],
  ["p99_ms", "99 %"],
  ["max_ms", "longest"],
];

/** The groups of clients that did something. */
export function activeGroups({ groups }: TrialReport, watched: Watched): string[] {
  return Object.keys(watched.groups).filter((group) => groups.columns[`${group} p99_ms`]);
}

/** Lines of the execution-time graph: three of one group, or one of each of several, its median dotted. */
export function executionLines(groups: string[]): Line[] {
  const [only, ...more] = groups;
  if (only !== undefined && !more.length) return OF_ONE.map(([suffix, label]) => ({ column: `${only} ${suffix}`, label }));
  return groups.flatMap((group) => [
    { column: `${group} p99_ms`, label: group, aspect: "99 %" },
    { column: `${group} p50_ms`, label: group, aspect: "median", dotted: true },
  ]);
}

/** The value above which an operation that is judged is too slow. */
export function threshold({ operations, threshold_ms }: Watched): { value: number; label: string } | undefined {
  if (threshold_ms === null) return undefined;
  return { value: threshold_ms, label: `threshold of ${operations.join(", ")}: ${number(threshold_ms)} ms` };
}

/** What was offered, as steps on an axis of its own. */
export function offeredSecond({ workload }: TrialReport, { offered }: Watched): Second | undefined {
  if (offered === null || !workload.columns[offered]) return undefined;
  return second(workload, offered, true);
}

/** What was lost, on an axis of its own; nothing if nothing was. */
export function lostSecond({ workload }: TrialReport, { lost }: Watched): Second | undefined {
  if (lost === null || highest(workload, lost) === 0) return undefined;
  return second(workload, lost, false);
}

/** The highest value of a column; 0 if it has none. */
export function highest(series: Series, name: string): number {
  return Math.max(0, ...(series.columns[name] ?? []).map((value) => value ?? 0));
}

/** The columns that no chart has drawn. */
export function remaining(series: Series, drawn: (string | null)[]): Series {
  return { t_s: series.t_s, columns: Object.fromEntries(Object.entries(series.columns).filter(([name]) => !drawn.includes(name))) };
}

function second(series: Series, name: string, quiet: boolean): Second {
  const { label, unit } = column(name);
  return { series, lines: [{ column: name, label, step: true, quiet }], unit, name: `${label}, ${unit}` };
}

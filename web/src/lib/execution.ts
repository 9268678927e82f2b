import type { Line, Second } from "../charts/time";
import type { Series, TrialReport, Watched } from "./document";
import { column } from "./format";

const OF_ONE: [string, string][] = [
  ["p50_ms", "median"],
  ["p95_ms", "95 %"],
  ["max_ms", "longest"],
];

/** Lines of the execution-time graph: three of one operation, or the 95th percentile of each of several. */
export function executionLines({ load }: TrialReport, { operations }: Watched): Line[] {
  const [only, ...more] = operations;
  const lines =
    only !== undefined && !more.length
      ? OF_ONE.map(([suffix, label]) => ({ column: `${only} ${suffix}`, label }))
      : operations.map((name) => ({ column: `${name} p95_ms`, label: `${name}, 95 %` }));
  return lines.filter((line) => load.columns[line.column]);
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

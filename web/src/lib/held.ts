import type { Line } from "../charts/time";
import type { HeldRow, PhaseSpan, ReportDocument, Series, TierFigures } from "./document";
import { CPU, partColumns } from "./parts";

/** Graphs over time that a page shows of the configurations: those at the end of the design. */
const MOST_GRAPHS = 4;

/** A configuration over time: its first valid trial, and a line for each part in percent of what it may use. */
export interface TierGraph {
  variant: string;
  trial: string;
  series: Series;
  phases: PhaseSpan[];
  lines: Line[];
}

/** A series and its phases up to the end of what is measured: then checks have the system for themselves. */
function steady(series: Series, phases: PhaseSpan[]): { series: Series; phases: PhaseSpan[] } {
  const end = Math.max(...phases.filter(({ kind }) => kind === "measure").map(({ to_s }) => to_s));
  const kept = series.t_s.flatMap((t, place) => (t <= end ? [place] : []));
  const columns = Object.entries(series.columns).map(([name, values]) => [name, kept.map((place) => values[place] ?? null)]);
  return {
    series: { t_s: kept.map((place) => series.t_s[place] ?? 0), columns: Object.fromEntries(columns) },
    phases: phases.filter(({ to_s }) => to_s <= end),
  };
}

/** Parts, or transactions, of any configuration, in the order in which they appear. */
export function namesIn(rows: HeldRow[], names: (row: HeldRow) => string[]): string[] {
  return [...new Set(rows.flatMap(names))];
}

/** The figures of a part in a configuration, if it has it. */
export function tierOf({ tiers }: HeldRow, name: string): TierFigures | undefined {
  return tiers.find(({ part }) => part === name);
}

/** The graphs of the parts' processor time, of those configurations that have one. */
export function tierGraphs({ held, trials }: ReportDocument): TierGraph[] {
  const found = (held?.rows ?? []).flatMap((row) => {
    const trial = trials.find(({ result }) => result.variant === row.variant && result.status === "valid");
    if (!trial) return [];
    const lines = partColumns(trial.parts, CPU).flatMap(({ part, column }): Line[] => {
      const processors = tierOf(row, part)?.processors;
      return processors ? [{ column, label: part, scale: 1 / processors }] : [];
    });
    return lines.length ? [{ variant: row.variant, trial: trial.result.trial, lines, ...steady(trial.parts, trial.phases) }] : [];
  });
  return found.slice(-MOST_GRAPHS);
}

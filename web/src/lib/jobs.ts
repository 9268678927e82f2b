import type { Line } from "../charts/time";
import type { GanttBar, GanttReport, IoPhase, JobTimes, JobsRow, JobsTable, RelativeFigure, Series } from "./document";
import { number, ratio } from "./format";

/** How the columns of a node's link begin, seen from the network. */
const TO = "to_bytes_per_s:";
const FROM = "from_bytes_per_s:";
const MEGABYTE = 1 / 1024 ** 2;

/** What a job took: how each column is called, and its figure, which the tables of trials and of jobs have. */
export const TOOK = [
  { label: "waited", of: "waiting_s", digits: 3 },
  { label: "launch", of: "launch_s", digits: 3 },
  { label: "staging", of: "stage_s", digits: 3 },
  { label: "run", of: "run_s", digits: 4 },
  { label: "seen late", of: "late_s", digits: 3 },
  { label: "CPU", of: "cpu_s", digits: 3 },
  { label: "MiB read", of: "read_mib", digits: 3 },
  { label: "written", of: "written_mib", digits: 3 },
] as const satisfies readonly { label: string; of: keyof JobTimes & keyof GanttBar; digits: number }[];

/** A line of relative throughput by load: one column of the table, without the loads that have no figure. */
export interface RelativeLine {
  label: string;
  points: { row: JobsRow; figure: RelativeFigure; load: number; value: number }[];
}

/** The columns of the table as lines; those without any figure are left out. */
export function relativeLines({ columns, rows }: JobsTable): RelativeLine[] {
  return columns
    .map(({ label }, place) => ({
      label: label ?? "",
      points: rows
        .flatMap((row) => {
          const figure = row.cells[place];
          return figure && figure.value !== null ? [{ row, figure, load: 100 * row.load_share, value: figure.value }] : [];
        })
        .sort((one, other) => one.load - other.load),
    }))
    .filter(({ points }) => points.length);
}

/** A ratio with its interval: `1.32 (1.28 to 1.36)`; `none` where none is made. */
export function relativeText(figure: RelativeFigure): string {
  if (figure.value === null) return "none";
  const span = relativeSpan(figure);
  return `${ratio(figure.value, figure.low, figure.high)}${span ? ` (${span})` : ""}`;
}

export function relativeSpan({ low = null, high = null }: RelativeFigure): string {
  return low === null || high === null ? "" : `${ratio(low, low, high)} to ${ratio(high, low, high)}`;
}

/** A load in words: `2 flow, 1 pstm`. */
export function loadText({ counts }: JobsRow): string {
  return Object.entries(counts)
    .filter(([, count]) => count)
    .map(([application, count]) => `${count} ${application}`)
    .join(", ");
}

/** A share in percent, without zeros that say nothing: `12.5 %`, `50 %`. */
export function shareText(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}

/** Whether a job ended in another way than it should: one that was cancelled at the end of its load did not. */
export function isBad({ state }: GanttBar): boolean {
  return state !== "ended" && state !== "cancelled";
}

/** The applications of a trial's jobs, in the order in which they arrived. */
export function applicationsOf({ bars }: GanttReport): string[] {
  return [...new Set(bars.map(({ application }) => application))];
}

/** A line for each node and direction of what crossed its link. */
export function linkLines({ columns }: Series): { sent: Line[]; received: Line[] } {
  const of = (prefix: string): Line[] =>
    Object.keys(columns)
      .filter((column) => column.startsWith(prefix))
      .map((column) => ({ column, label: column.slice(prefix.length), scale: MEGABYTE }));
  return { sent: of(FROM), received: of(TO) };
}

/** A part of the run time of jobs: `first 25 %`, `25 to 50 %`. */
export function partText({ from_share: from, to_share: to }: IoPhase): string {
  return from === 0 ? `first ${number(100 * to, 3)} %` : `${number(100 * from, 3)} to ${number(100 * to, 3)} %`;
}

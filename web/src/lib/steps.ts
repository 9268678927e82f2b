import type { Curve, Figure, ReportDocument, StepReport, StepsReport, StepTitle } from "./document";
import { number, seconds } from "./format";

/** What the bars of steps are drawn from: per variant a figure of each step, or nothing. */
export interface StepBars {
  steps: StepTitle[];
  unit: string;
  variants: { name: string; unsafe: boolean; figures: (Figure | undefined)[] }[];
}

/** The columns of a table of tests: `read`, `write`; one without a name where steps are no tests. */
export function columnsOf({ steps }: StepsReport): string[] {
  return [...new Set(steps.map(({ column }) => column ?? ""))];
}

/** Name of a step: that of its operation, or of the test as people know it. */
export function stepName({ operation, title, column }: StepTitle): string {
  return column ? `${title} ${column}` : operation;
}

/** A figure of a step in the unit of its metric; times take the unit that suits them. */
export function told(value: number | null | undefined, unit: string): string {
  return unit === "s" ? seconds(value) : number(value);
}

/** The figures of all steps of a column that any variant has, variant by variant. */
export function stepFigures(document: ReportDocument, { steps }: StepsReport, column = ""): StepBars {
  const figures = document.variants.map((variant) => new Map(variant.figures.map((figure) => [figure.metric, figure])));
  const shown = steps.filter((step) => (step.column ?? "") === column && figures.some((known) => known.has(step.metric)));
  const unit = document.metrics?.find(({ name }) => name === shown[0]?.metric)?.unit ?? "s";
  return {
    steps: shown,
    unit,
    variants: document.variants.map(({ name, unsafe }, place) => ({
      name,
      unsafe: Boolean(unsafe?.length),
      figures: shown.map(({ metric }) => figures[place]?.get(metric)),
    })),
  };
}

/** A step's figure over the trials of a variant, as text. */
export function timesOf({ values, median, low, high, interval_is_range }: Figure, unit = "s") {
  const span = low === null || high === null ? "–" : `${told(low, unit)} to ${told(high, unit)}`;
  return {
    least: told(Math.min(...values), unit),
    median: told(median, unit),
    interval: interval_is_range ? `${span} (range)` : span,
  };
}

/** Names of the streams in the order in which they began, those that began together by name. */
export function streamsOf(steps: StepReport[]): string[] {
  const together = 0.01 * Math.max(...steps.map(({ to_s }) => to_s));
  const begins = new Map<string, number>();
  for (const { stream, from_s } of blocksOf(steps)) if (!begins.has(stream)) begins.set(stream, Math.round(from_s / together));
  const inOrder = [...begins].sort(([one, first], [other, second]) => first - second || one.localeCompare(other));
  return inOrder.map(([stream]) => stream);
}

/** The steps in the order of their begin. */
export function blocksOf(steps: StepReport[]): StepReport[] {
  return [...steps].sort((one, other) => one.from_s - other.from_s);
}

export function isSpilled(step: StepReport): boolean {
  return (step.spilled_bytes ?? 0) > 0;
}

/** Whether the engine spilled while it ran beside others: it, or one of those. */
export function isSpilledBeside(step: StepReport): boolean {
  return (step.spilled_beside_bytes ?? 0) > 0;
}

/** The steps of which it is known what they used, the longest first. */
export function accounted(steps: StepReport[]): StepReport[] {
  const known = steps.filter((step) => step.kind !== "explain" && (step.cpu_s !== null || step.error !== null));
  return known.sort((one, other) => other.to_s - other.from_s - (one.to_s - one.from_s));
}

/** The curves of what users ask for beside the steps, each of which is made too seldom for one. */
export function besideSteps(curves: Curve[], steps: StepReport[]): Curve[] {
  const made = new Set(steps.map(({ operation }) => operation));
  return curves.filter(({ operation }) => !made.has(operation));
}

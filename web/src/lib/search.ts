import type { LevelReason, LevelReport, SearchReport } from "./document";
import { count, number } from "./format";

/** What became of a level; one that does not count was tried again. */
export type Fate = "holds" | "fails" | "does not count";

export const FATE_SYMBOL: Record<Fate, string> = { holds: "✓", fails: "✗", "does not count": "–" };

const KIND: Record<LevelReport["kind"], string> = { ascent: "ascent", soak: "soak", confirm: "confirmation" };

/** Levels one after the other that were tried for the same purpose: places from 0, both included. */
export interface Stretch {
  label: string;
  from: number;
  to: number;
}

export function fate(level: LevelReport): Fate {
  if (!level.counts) return "does not count";
  return level.holds ? "holds" : "fails";
}

/** A kind in words; a confirmation says at which share of the found level it was. */
export function kindText({ kind, level, of, raised }: LevelReport): string {
  const share = of ? ` at ${Math.round((100 * level) / of)} %` : "";
  return `${KIND[kind]}${share}${raised ? ", raised" : ""}`;
}

/** The order of the levels as stretches of one kind. */
export function stretches(levels: LevelReport[]): Stretch[] {
  const found: Stretch[] = [];
  levels.forEach(({ kind }, place) => {
    const last = found.at(-1);
    if (last?.label === KIND[kind]) last.to = place;
    else found.push({ label: KIND[kind], from: place, to: place });
  });
  return found;
}

/** The highest level that held and the lowest above it that failed, where both are known. */
export function bracket({ low, high }: SearchReport): [number, number] | undefined {
  return low === null || high === null ? undefined : [low, high];
}

/** A reason with the second of the level from which on it was seen: `p99 was 80 ms (from 20 s on)`. */
export function since({ text, at_s }: LevelReason): string {
  return at_s === null ? text : `${text} (from ${span(at_s)} on)`;
}

/** What a term of an objective is about: `p99` of `p99 < 1000 ms`. */
export function quantity(term: string): string {
  return term.replace(/\s*[<>=].*$/, "");
}

/** Seconds as they were asked for, in one piece: `60 s`, `2.5 s`. */
export function span(value_s: number): string {
  return `${count(Number(value_s.toFixed(1)))}\u00a0s`;
}

/** A level as people read it: whole where it is a number of things. */
export function levelText(value: number): string {
  return Number.isInteger(value) ? count(value) : number(value);
}

/** How the search went about it, in a sentence. */
export function approach({ approach: way, method, window_s }: SearchReport): string {
  const steps = method === "steps" ? "coarse, then fine steps" : "doubling, then bisection";
  const how = way === "raise" ? "by raising the load of a running trial, then by fresh trials" : "each by a fresh trial";
  return `Levels were approached ${how} (${steps}); the objective was judged in every window of ${span(window_s)}.`;
}

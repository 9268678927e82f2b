import type { Trace, TraceRow, Traces } from "./document";
import { seconds } from "./format";

/** What a request is doing, in this order; their names in words. */
export const PARTS = [
  { key: "blocked_s", label: "waiting for a free connection" },
  { key: "resolve_s", label: "looking up the name" },
  { key: "connect_s", label: "connecting" },
  { key: "tls_s", label: "TLS handshake" },
  { key: "send_s", label: "sending" },
  { key: "wait_s", label: "waiting for the answer" },
  { key: "receive_s", label: "receiving" },
] as const;

export type PartKey = (typeof PARTS)[number]["key"];

/** A transaction that can be looked at. */
export interface Choice {
  label: string;
  trace: Trace;
}

/** A part of a bar; place and width are shares of the whole, 0 to 1. */
export interface Piece {
  key: PartKey;
  label: string;
  seconds: number;
  from: number;
  width: number;
}

const MOST_TICKS = 4;

/** The transactions of an operation, the slowest first; the first of a sample is a typical one. */
export function choices({ slowest, sample, failed }: Traces): Choice[] {
  const drawn = sample.map((trace, place) => ({ label: place === 0 ? "typical" : "another", trace }));
  return [...(slowest ? [{ label: "slowest", trace: slowest }] : []), ...drawn, ...(failed ? [{ label: "failed", trace: failed }] : [])];
}

/** How long a part of a request took. */
export function partSeconds(row: TraceRow, key: PartKey): number {
  return row[key];
}

/** How long a request took, all its parts together. */
export function took(row: TraceRow): number {
  return PARTS.reduce((sum, { key }) => sum + partSeconds(row, key), 0);
}

/** From when a transaction was due to its end, or to that of its last request. */
export function span({ took_s, rows }: Trace): number {
  return rows.reduce((end, row) => Math.max(end, row.at_s + took(row)), took_s);
}

/** The bar of a request: its parts that took any time, one after the other. */
export function pieces(row: TraceRow, whole: number): Piece[] {
  let at = row.at_s;
  const all = PARTS.map(({ key, label }) => {
    const length = partSeconds(row, key);
    const piece = { key, label, seconds: length, from: share(at, whole), width: share(length, whole) };
    at += length;
    return piece;
  });
  return all.filter(({ seconds: length }) => length > 0);
}

/** The parts that occur in a transaction, in their order. */
export function partsOf({ rows }: Trace): (typeof PARTS)[number][] {
  return PARTS.filter(({ key }) => rows.some((row) => partSeconds(row, key) > 0));
}

/** Marks of the time axis at round figures, the first at 0; places are shares of the whole. */
export function marksOfTime(whole: number): { label: string; at: number }[] {
  if (!(whole > 0)) return [{ label: seconds(0), at: 0 }];
  const step = roundStep(whole / MOST_TICKS);
  const count = Math.floor(whole / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, place) => ({ label: seconds(place * step), at: share(place * step, whole) }));
}

/** What is said of the bar of a request: `12 ms: connecting 1 ms, waiting for the answer 11 ms`. */
export function said(row: TraceRow): string {
  const parts = PARTS.filter(({ key }) => partSeconds(row, key) > 0).map(({ key, label }) => `${label} ${seconds(partSeconds(row, key))}`);
  return parts.length ? `${seconds(took(row))}: ${parts.join(", ")}` : "not sent";
}

/** Number of the step, and of the request within it where there are several at the same time: `3.2`. */
export function stepOf({ step, lane }: TraceRow): string {
  return lane === null || lane === undefined ? `${step}` : `${step}.${lane}`;
}

/** Why a request was sent, if it was not simply asked for. */
export function why({ cause }: TraceRow): string {
  return cause === "asked" ? "" : cause === "redirect" ? "redirected" : "sent once more";
}

function share(part: number, whole: number): number {
  return whole > 0 ? Math.min(1, part / whole) : 0;
}

/** The next of 1, 2, 5, 10, ... that is not smaller. */
function roundStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(least));
  const found = [1, 2, 5].find((factor) => factor * decade >= least * (1 - 1e-9));
  return (found ?? 10) * decade;
}

import { describe, expect, it } from "vitest";
import type { Trace, TraceRow } from "../src/lib/document";
import { choices, marksOfTime, partsOf, pieces, said, span, stepOf, took, why } from "../src/lib/waterfall";

const NO_TIME = { blocked_s: 0, resolve_s: 0, connect_s: 0, tls_s: 0, send_s: 0, wait_s: 0, receive_s: 0 };
const row = (fields: Partial<TraceRow>): TraceRow => ({ request: "page", step: 1, cause: "asked", at_s: 0, ...NO_TIME, ...fields }) as TraceRow;
const trace = (took_s: number, ...rows: TraceRow[]): Trace => ({ phase: "measure", due_s: 5, begun_s: 0, took_s, rows }) as Trace;

describe("the transactions that are kept", () => {
  it("are the slowest, a typical one, others that were drawn, and one that failed", () => {
    const told = choices({ slowest: trace(3), sample: [trace(1), trace(2)], failed: trace(9) });
    expect(told.map(({ label, trace: { took_s } }) => [label, took_s])).toEqual([
      ["slowest", 3],
      ["typical", 1],
      ["another", 2],
      ["failed", 9],
    ]);
    expect(choices({ slowest: null, sample: [], failed: null })).toEqual([]);
  });
});

describe("the bar of a request", () => {
  const one = row({ at_s: 0.1, connect_s: 0.1, wait_s: 0.2 });

  it("has its parts one after the other", () => {
    const found = pieces(one, 0.5).map(({ key, from, width }) => [key, from.toFixed(3), width.toFixed(3)]);
    expect(found).toEqual([
      ["connect_s", "0.200", "0.200"],
      ["wait_s", "0.400", "0.400"],
    ]);
    expect(took(one)).toBeCloseTo(0.3);
  });

  it("is told in words", () => {
    expect(said(one)).toBe("300 ms: connecting 100 ms, waiting for the answer 200 ms");
    expect(said(row({ error: "no_value" }))).toBe("not sent");
  });

  it("says where the request belongs and why it was sent", () => {
    expect([stepOf(row({ step: 2 })), stepOf(row({ step: 3, lane: 2 }))]).toEqual(["2", "3.2"]);
    expect([why(one), why(row({ cause: "redirect" })), why(row({ cause: "again" }))]).toEqual(["", "redirected", "sent once more"]);
  });

  it("is empty where there is no time at all", () => {
    expect(pieces(row({}), 0)).toEqual([]);
  });
});

describe("the whole of a transaction", () => {
  it("reaches to its end", () => {
    expect(span(trace(0.5, row({ at_s: 0.1, wait_s: 0.2 })))).toBe(0.5);
    expect(span(trace(0.2, row({ at_s: 0.1, wait_s: 0.2 })))).toBeCloseTo(0.3);
  });

  it("has the parts that occur in it", () => {
    const found = partsOf(trace(1, row({ wait_s: 0.2 }), row({ tls_s: 0.1, receive_s: 0 })));
    expect(found.map(({ key }) => key)).toEqual(["tls_s", "wait_s"]);
  });
});

describe("the time axis", () => {
  it("has marks at round figures", () => {
    expect(marksOfTime(0.523).map(({ label }) => label)).toEqual(["0 s", "200 ms", "400 ms"]);
    expect(marksOfTime(6).map(({ label }) => label)).toEqual(["0 s", "2.00 s", "4.00 s", "6.00 s"]);
    for (const whole of [1e-6, 3.3e-5, 0.0071, 0.1, 1, 59, 3600]) {
      const marks = marksOfTime(whole);
      expect(marks.length).toBeGreaterThanOrEqual(3);
      expect(marks.length).toBeLessThanOrEqual(5);
      expect(marks.every(({ at }) => at >= 0 && at <= 1)).toBe(true);
    }
  });

  it("is a single mark where nothing took any time", () => {
    expect(marksOfTime(0)).toEqual([{ label: "0 s", at: 0 }]);
  });
});

import { describe, expect, it } from "vitest";
import type { RequestRow, TrialResult } from "../src/lib/document";
import { classes, marks, ofVariant, phasesTold, requestsOf, variantsOf } from "../src/lib/requests";

const figures = (variant: string) => ({ variant, trials: 3, count: 9, errors: {}, resent: {} });
const ROWS = [
  { operation: "list", request: "list page", figures: [figures("b")] },
  { operation: "log-in", request: "form", figures: [figures("a"), figures("b")] },
] as unknown as RequestRow[];

describe("the requests of the variants", () => {
  it("are of those that have any, in the order of the design", () => {
    expect(variantsOf(ROWS, ["a", "none", "b"])).toEqual(["a", "b"]);
    expect(ROWS.map((row) => ofVariant(row, "a")?.variant)).toEqual([undefined, "a"]);
  });
});

describe("the requests of a trial", () => {
  it("are those of all its operations, in their order", () => {
    const result = {
      operations: [
        { name: "list", requests: [{ name: "list page" }, { name: "style" }] },
        { name: "of an older record" },
        { name: "log-out", requests: [{ name: "leave" }] },
      ],
    } as unknown as TrialResult;
    expect(requestsOf(result).map(({ operation, request }) => `${operation}/${request.name}`)).toEqual(["list/list page", "list/style", "log-out/leave"]);
  });
});

describe("errors", () => {
  it("are told by class, the most frequent first", () => {
    expect(classes({ reset: 3, status_500: 1200, closed: 3 })).toBe("1,200 × status_500, 3 × closed, 3 × reset");
    expect(classes({})).toBe("");
  });
});

describe("marks", () => {
  it("are shares of the answers that ended well", () => {
    expect(marks({ cached: 6, stale: 0 }, 8)).toBe("cached 75.0 %, stale 0.0 %");
    expect(marks({ cached: 0 }, 0)).toBe("cached 0.0 %");
    expect(marks(undefined, 3)).toBe("");
  });
});

describe("phases that are not measured", () => {
  it("are told where users leave or operations fail", () => {
    const phase = (name: string, kind: string, errors = {}) => ({ name, kind, errors });
    const phases = [phase("ramp", "ramp"), phase("warm-up", "warm-up", { status_500: 1 }), phase("measure", "measure", { reset: 2 }), phase("drain", "drain")];
    expect(phasesTold({ phases } as unknown as TrialResult).map(({ name }) => name)).toEqual(["warm-up", "drain"]);
  });
});

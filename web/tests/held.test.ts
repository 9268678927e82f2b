import { describe, expect, it } from "vitest";
import { tierGraphs } from "../src/lib/held";
import type { ReportDocument } from "../src/lib/document";

const PHASES = [
  { name: "ramp", kind: "ramp", from_s: 0, to_s: 2 },
  { name: "measure", kind: "measure", from_s: 2, to_s: 4 },
  { name: "drain", kind: "drain", from_s: 4, to_s: 6 },
];
const SERIES = { t_s: [1, 3, 5], columns: { "cpu_percent:nodes": [10, 24, 90], "cpu_percent:nodes.1": [10, 24, 90], "cpu_percent:cache": [1, 2, 3] } };

function document(variants: string[]): ReportDocument {
  const tiers = [
    { part: "nodes", processors: 0.25 },
    { part: "cache", processors: null },
  ];
  return {
    held: { rows: variants.map((variant) => ({ variant, tiers })) },
    trials: variants.flatMap((variant) =>
      ["failed", "valid"].map((status) => ({ result: { trial: `${variant}-${status}`, variant, status }, parts: SERIES, phases: PHASES })),
    ),
  } as unknown as ReportDocument;
}

describe("the graphs of the parts of configurations", () => {
  it("are of a valid trial, in percent of what a part may use, and of no part whose share is not known", () => {
    const [graph] = tierGraphs(document(["nodes=1"]));
    expect(graph?.trial).toBe("nodes=1-valid");
    expect(graph?.lines).toEqual([{ column: "cpu_percent:nodes", label: "nodes", scale: 4 }]);
  });
  it("end with what is measured: checks come after it", () => {
    const [graph] = tierGraphs(document(["nodes=1"]));
    expect(graph?.series.t_s).toEqual([1, 3]);
    expect(graph?.series.columns["cpu_percent:nodes"]).toEqual([10, 24]);
    expect(graph?.phases.map(({ name }) => name)).toEqual(["ramp", "measure"]);
  });
  it("are of the last configurations, where there are many", () => {
    const names = [1, 2, 3, 4, 5, 6].map((n) => `nodes=${n}`);
    expect(tierGraphs(document(names)).map(({ variant }) => variant)).toEqual(names.slice(-4));
    expect(tierGraphs({ ...document([]), held: null })).toEqual([]);
  });
});

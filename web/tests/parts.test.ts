import { expect, test } from "vitest";
import type { PartRow } from "../src/lib/document";
import { CPU, figuresOf, MEMORY, partColumns, variantsWithParts } from "../src/lib/parts";

const figures = { trials: 1, cpu_percent: 12, memory_bytes: null, quota: null, throttled_percent: null };
const rows: PartRow[] = [
  { part: "database", figures: [{ variant: "nodes=1", ...figures }, { variant: "nodes=2", ...figures, cpu_percent: 20 }] },
  { part: "nodes.2", figures: [{ variant: "nodes=2", ...figures }] },
];

test("a chart has a line for each part, and none for the parts of it", () => {
  const series = { t_s: [1], columns: { "cpu_percent:nodes": [3], "cpu_percent:nodes.1": [3], "memory_bytes:nodes": [9] } };
  expect(partColumns(series, CPU)).toEqual([{ part: "nodes", column: "cpu_percent:nodes" }]);
  expect(partColumns(series, MEMORY)).toEqual([{ part: "nodes", column: "memory_bytes:nodes" }]);
  expect(partColumns({ t_s: [], columns: {} }, CPU)).toEqual([]);
});

test("variants stand in their order, and one without a part has no figures of it", () => {
  expect(variantsWithParts(rows, ["nodes=2", "none", "nodes=1"])).toEqual(["nodes=2", "nodes=1"]);
  expect(figuresOf(rows[1]!, "nodes=1")).toBeUndefined();
  expect(figuresOf(rows[0]!, "nodes=2")?.cpu_percent).toBe(20);
});

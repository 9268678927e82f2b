import { expect, test } from "vitest";
import type { LimitReport } from "../src/lib/document";
import { limitSentence, limitTitle } from "../src/lib/limits";

const nodes: LimitReport = {
  variant: "nodes=1",
  phase: "",
  limit: "the processors of nodes",
  evidence: "0.49 of 0.50 processors of its quota were used",
  times: 1,
  trials: 1,
  uses: [],
};

test("what limits is said with its evidence", () => {
  expect(limitSentence(nodes)).toBe("The processors of nodes. 0.49 of 0.50 processors of its quota were used.");
  expect(limitSentence({ ...nodes, times: 2, trials: 3 })).toMatch(/ So in 2 of 3 trials\.$/);
});

test("what was not found is said as that", () => {
  expect(limitSentence({ ...nodes, limit: "", evidence: "" })).toBe("Not found: nothing that was looked at was full.");
});

test("the variant is named where there are several, the phase where there are", () => {
  expect(limitTitle(nodes, false)).toBe("");
  expect(limitTitle({ ...nodes, phase: "50 %" }, true)).toBe("nodes=1, 50 %");
});

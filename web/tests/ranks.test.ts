import { describe, expect, it } from "vitest";
import { ranks } from "../src/lib/ranks";

describe("ranks", () => {
  const values = new Map([["a", 3], ["b", 9], ["c", 3], ["d", 1]]);

  it("gives the highest the first place, and equal ones the better of theirs", () => {
    expect([...ranks(values, true)]).toEqual([["a", 2], ["b", 1], ["c", 2], ["d", 4]]);
  });

  it("gives the lowest the first place where less is better", () => {
    expect([...ranks(values, false)]).toEqual([["a", 2], ["b", 4], ["c", 2], ["d", 1]]);
  });
});

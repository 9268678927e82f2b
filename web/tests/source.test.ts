import { describe, expect, it } from "vitest";
import { parse } from "../src/lib/source";

describe("the embedded document", () => {
  it("refuses a page without a report", () => {
    expect(() => parse("__LOADSTONE_DOCUMENT__")).toThrow(/holds no report/);
  });
  it("refuses a version that it does not know", () => {
    expect(() => parse('{"version": 2}')).toThrow(/version 1, not of 2/);
  });
});

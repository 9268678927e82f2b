import { describe, expect, it } from "vitest";
import { bytes, column, moment, number, percent, percentInterval, pValue, seconds, tick } from "../src/lib/format";

describe("figures", () => {
  it("keeps four digits and sets thousands apart", () => {
    expect(number(9018.4)).toBe("9,018");
    expect(number(87.25)).toBe("87.25");
    expect(number(0.01234)).toBe("0.01234");
    expect(number(0)).toBe("0");
    expect(number(-3.5)).toBe("\u22123.500");
  });
  it("writes nothing as a dash, never as NaN", () => {
    for (const nothing of [null, undefined, NaN, Infinity]) expect(number(nothing)).toBe("–");
    expect(percent(null)).toBe("–");
    expect(percentInterval(null, 1.2)).toBe("–");
  });
  it("gives changes a sign", () => {
    expect(percent(12.34)).toBe("+12\u202f%");
    expect(percent(-1.26)).toBe("\u22121.3\u202f%");
    expect(percent(0.001)).toBe("±0.00\u202f%");
  });
  it("chooses units", () => {
    expect(seconds(7e-8)).toBe("70.0 ns");
    expect(seconds(0.00031)).toBe("310 µs");
    expect(seconds(0.0124)).toBe("12.4 ms");
    expect(seconds(2.1)).toBe("2.10 s");
    expect(bytes(1536)).toBe("1.50 kB");
    expect(tick(12_000)).toBe("12k");
    expect(pValue(0.0004)).toBe("< 0.001");
    expect(pValue(2e-7)).toBe("< 0.001");
  });
  it("writes moments to the second", () => {
    expect(moment("2026-11-21T21:49:04.856286+00:00")).toBe("2026-11-21 21:49:04 UTC");
    expect(moment("2026-11-20T10:01:00Z")).toBe("2026-11-20 10:01:00 UTC");
  });
  it("splits columns into words and unit", () => {
    expect(column("disk_read_bytes_per_s")).toEqual({ label: "disk read", unit: "bytes/s" });
    expect(column("cache_hit_percent")).toEqual({ label: "cache hit", unit: "%" });
    expect(column("users")).toEqual({ label: "users", unit: "" });
  });
});

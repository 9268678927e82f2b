import { describe, expect, it } from "vitest";
import type { DensityReport, DensityRow, PowerRecord } from "../src/lib/document";
import { densityColumns, densityRemarks, marked, markOf, meterLines, meterName } from "../src/lib/power";

const record = (more: Partial<PowerRecord>): PowerRecord => ({ meter: "pdu", channel: "total", simulated: false, estimated: false, ...more }) as PowerRecord;

describe("what marks a figure of power", () => {
  it("stands behind its unit, and nothing does behind a measured one", () => {
    expect(marked("W", markOf([record({})]))).toBe("W");
    expect(marked("W", markOf([record({}), record({ simulated: true })]))).toBe("W (simulated)");
    expect(markOf([record({ simulated: true, estimated: true })])).toBe("simulated, estimated");
  });
});

describe("meters", () => {
  it("are named with their channel, where that says more", () => {
    expect(meterName(record({}))).toBe("pdu total");
    expect(meterName(record({ channel: "pdu" }))).toBe("pdu");
  });
  it("have a line for each channel", () => {
    expect(meterLines({ t_s: [], columns: { "watts:pdu total": [] } })).toEqual([{ column: "watts:pdu total", label: "pdu total" }]);
  });
});

describe("cost and density", () => {
  const nothing = { price: null, watts: null, rack_units: null, rate_per_watt: null, users_per_watt: null, rate_per_price: null };
  const none = { rate_per_rack_unit: null, users_per_rack_unit: null, kwh_per_year: null, energy_cost_per_year: null };
  const row = (more: Partial<DensityRow>): DensityRow => ({ variant: "a", ...nothing, ...none, ...more }) as DensityRow;
  const report = (more: Partial<DensityReport>): DensityReport =>
    ({ unit: "tx/s", label: "transactions", currency: "CHF", energy_currency: "EUR", hours: 8760, graduated: false, rows: [], ...more }) as DensityReport;

  it("has columns only of what any configuration has", () => {
    const columns = densityColumns(report({ rows: [row({}), row({ watts: 200, rate_per_watt: 5, rate_per_price: 0.5 })] }));
    expect(columns.map(({ heading, power }) => [heading, power])).toEqual([
      ["power, W", true],
      ["tx/s per watt", true],
      ["tx/s per CHF", false],
    ]);
  });
  it("says of how many hours and at which price a year is", () => {
    const rows = [row({ kwh_per_year: 100 })];
    expect(densityRemarks(report({ rows, energy_price: 0.3 }))).toEqual(["A year is 8,760 hours at these watts; a kWh costs 0.3 EUR."]);
    expect(densityRemarks(report({ rows: [row({})] }))).toEqual([]);
    expect(densityRemarks(report({ rows: [row({})], graduated: true, remarks: ["Measured."] }))).toHaveLength(2);
  });
});

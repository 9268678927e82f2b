import type { Line } from "../charts/time";
import type { DensityReport, DensityRow, GraduatedVariant, LoadLevel, PowerRecord, PowerRow, Series, Spread } from "./document";
import { interval, number } from "./format";

/** How the columns of a meter's watts begin: `watts:pdu wall`. */
const WATTS = "watts:";

/** A unit with what marks the figures before it: `W (simulated)`. */
export function marked(unit: string, mark: string | undefined): string {
  return mark ? `${unit} (${mark})`.trim() : unit;
}

/** What stands behind each figure that is of a reading: `simulated`, `estimated`, or both. */
export function markOf(records: PowerRecord[]): string {
  const marks = [records.some(({ simulated }) => simulated) ? "simulated" : "", records.some(({ estimated }) => estimated) ? "estimated" : ""];
  return marks.filter(Boolean).join(", ");
}

/** A meter with its channel, where that says more. */
export function meterName({ meter, channel }: PowerRow | PowerRecord): string {
  return channel === "" || channel === meter ? meter : `${meter} ${channel}`;
}

/** A line for each channel of the meters. */
export function meterLines(series: Series): Line[] {
  return Object.keys(series.columns).map((column) => ({ column, label: column.startsWith(WATTS) ? column.slice(WATTS.length) : column }));
}

/** A median with its interval below. */
export function spreadText(spread: Spread | null | undefined): string {
  return spread ? number(spread.median) : "–";
}

export function spreadInterval(spread: Spread | null | undefined): string {
  return spread && spread.low !== null && spread.high !== null ? interval(spread.low, spread.high) : "";
}

/** A share in percent. */
export function share(value: number | null | undefined, digits = 3): string {
  return value === null || value === undefined ? "–" : `${number(100 * value, digits)} %`;
}

/** The level of the highest load; none of a trial that had active idle only. */
export function peakOf({ levels }: GraduatedVariant): LoadLevel | undefined {
  const first = levels[0];
  return first && first.share > 0 ? first : undefined;
}

/** Whether any level of any configuration has watts. */
export function isPowered(variants: GraduatedVariant[]): boolean {
  return variants.some(({ levels }) => levels.some(({ watts }) => watts));
}

/** A column of the table of cost and density. */
export interface DensityColumn {
  heading: string;
  value: (row: DensityRow) => number | null;
  /** Of power: a mark stands behind its figures. */
  power: boolean;
}

/** The columns of which any configuration has a figure. */
export function densityColumns({ unit, label, currency, energy_currency: energy, rows }: DensityReport): DensityColumn[] {
  const rate = unit || label;
  const all: DensityColumn[] = [
    { heading: "power, W", value: (row) => row.watts, power: true },
    { heading: `${rate} per watt`, value: (row) => row.rate_per_watt, power: true },
    { heading: "users per watt", value: (row) => row.users_per_watt, power: true },
    { heading: "rack units", value: (row) => row.rack_units, power: false },
    { heading: `${rate} per rack unit`, value: (row) => row.rate_per_rack_unit, power: false },
    { heading: "users per rack unit", value: (row) => row.users_per_rack_unit, power: false },
    { heading: `price, ${currency}`, value: (row) => row.price, power: false },
    { heading: `${rate} per ${currency}`, value: (row) => row.rate_per_price, power: false },
    { heading: "kWh a year", value: (row) => row.kwh_per_year, power: true },
    { heading: `energy of a year, ${energy}`, value: (row) => row.energy_cost_per_year, power: true },
  ];
  return all.filter(({ value }) => rows.some((row) => value(row) !== null));
}

/** What the figures of the table are of, a sentence each. */
export function densityRemarks({ remarks = [], graduated, rows, hours, energy_price: price, energy_currency: currency }: DensityReport): string[] {
  const found = [...remarks];
  if (graduated) {
    found.push(
      "Watts are the mean of the levels, active idle among them; the rate for each watt is of all levels, other rates are those of the highest load.",
    );
  }
  if (rows.some(({ kwh_per_year }) => kwh_per_year !== null)) {
    const cost = price === null || price === undefined ? "" : `; a kWh costs ${price} ${currency}`;
    found.push(`A year is ${number(hours)} hours at these watts${cost}.`);
  }
  return found;
}

const MINUS = "\u2212";
const THIN = "\u202f";

/** A figure as people read it: four digits, thousands set apart; `–` for nothing. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return sign(Math.round(value).toLocaleString("en-US"));
  if (size === 0) return "0";
  if (size < 1e-4) return sign(value.toFixed(Math.min(20, 1 - Math.floor(Math.log10(size)))));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return sign(value.toFixed(Math.min(decimals, 6)));
}

/** A name at the begin of a line. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A number of things: `12,345`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** A figure on an axis: short, no needless zeros, `12k`, `1.5M`. */
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${trim(value / 1e9)}G`;
  if (size >= 1e6) return `${trim(value / 1e6)}M`;
  if (size >= 1e4) return `${trim(value / 1e3)}k`;
  return trim(value);
}

/** A signed change: `+12.3 %`, `+0.03 %`. */
export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const decimals = size >= 10 ? 0 : size >= 0.095 ? 1 : 2;
  const text = value.toFixed(decimals);
  const zero = Number(text) === 0;
  return `${zero ? "±" : value > 0 ? "+" : MINUS}${text.replace("-", "")}${THIN}%`;
}

/** A ratio with its interval as changes in percent: `+9.8 % to +14 %`. */
export function percentInterval(low: number | null, high: number | null): string {
  if (low === null || high === null) return "–";
  return `${percent(100 * (low - 1))} to ${percent(100 * (high - 1))}`;
}

/** A ratio, with digits as far as its interval has any meaning: `1.82`, `1.0042`. */
export function ratio(value: number, low: number | null = null, high: number | null = null): string {
  const width = low === null || high === null ? 1 : high - low;
  return value.toFixed(value >= 10 ? 1 : width > 0.05 ? 2 : width > 0.005 ? 3 : 4);
}

/** An interval of a figure: `4,980 to 5,120`. */
export function interval(low: number | null, high: number | null): string {
  return low === null || high === null ? "–" : `${number(low)} to ${number(high)}`;
}

/** A p-value: `0.013`, `< 0.001`. */
export function pValue(value: number | null): string {
  if (value === null) return "–";
  if (value < 0.001) return "< 0.001";
  return value < 0.1 ? value.toFixed(3) : value.toFixed(2);
}

/** Seconds with the unit that suits them: `310 µs`, `12.4 ms`, `2.10 s`. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0 s";
  if (value < 1e-6) return `${number(value * 1e9, 3)} ns`;
  if (value < 0.001) return `${number(value * 1e6, 3)} µs`;
  if (value < 1) return `${number(value * 1000, 3)} ms`;
  return `${number(value, 3)} s`;
}

/** A moment as the record has it (ISO 8601, UTC), to the second: `2026-11-21 21:49:04 UTC`. */
export function moment(iso: string): string {
  return iso.replace("T", " ").replace(/(\.\d+)?(\+00:00|Z)$/, " UTC");
}

/** Bytes with the largest unit of 1024 that leaves one or more: `1.5 GB`. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let index = 0;
  let rest = value;
  while (Math.abs(rest) >= 1024 && index < units.length - 1) {
    rest /= 1024;
    index += 1;
  }
  return `${number(rest, 3)} ${units[index] ?? "B"}`;
}

/** A level of a factor as text. */
export function level(value: unknown): string {
  if (value === null || value === undefined) return "default";
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

/** A name of a column such as `disk_read_bytes_per_s`, split into words and unit. */
export function column(name: string): { label: string; unit: string } {
  const units: [RegExp, string][] = [
    [/_bytes_per_s$/, "bytes/s"],
    [/_per_s$/, "/s"],
    [/_percent$/, "%"],
    [/_bytes$/, "bytes"],
    [/_ms$/, "ms"],
    [/_us$/, "µs"],
    [/_s$/, "s"],
  ];
  for (const [pattern, unit] of units) {
    if (pattern.test(name)) return { label: name.replace(pattern, "").replaceAll("_", " "), unit };
  }
  return { label: name.replaceAll("_", " "), unit: "" };
}

function trim(value: number): string {
  return sign(String(Number(value.toPrecision(4))));
}

function sign(text: string): string {
  return text.replace("-", MINUS);
}

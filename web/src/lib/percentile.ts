/**
 * The percentile axis of HdrHistogram's plots: logarithmic in 1 / (1 − p), so that each nine takes the
 * same room and the tail is not squeezed into the last pixel.
 */
export const LAST_PERCENTILE = 99.999;

/** Place of a percentile (0 to below 100) on the axis. */
export function toAxis(percentile: number): number {
  return 1 / (1 - Math.min(percentile, LAST_PERCENTILE) / 100);
}

/** Percentile at a place of the axis. */
export function fromAxis(place: number): number {
  return 100 * (1 - 1 / place);
}

/** How a percentile is written: as many nines as it has. */
export function percentileLabel(percentile: number): string {
  const nines = Math.max(0, Math.ceil(-Math.log10(1 - Math.min(percentile, LAST_PERCENTILE) / 100) - 1e-9) - 2);
  return String(Number(percentile.toFixed(Math.max(nines, percentile < 90 ? 0 : nines))));
}

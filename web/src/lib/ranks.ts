/** Place of each value among all, the best first; equal ones share the better place. */
export function ranks(values: Map<string, number>, higherIsBetter: boolean): Map<string, number> {
  const ordered = [...values.values()].sort((a, b) => (higherIsBetter ? b - a : a - b));
  return new Map([...values].map(([name, value]) => [name, ordered.indexOf(value) + 1]));
}

import type { PartFigures, PartRow, Series } from "./document";

/** What stands before the name of a part in the columns of its series. */
export const CPU = "cpu_percent:";
export const MEMORY = "memory_bytes:";
export const THROTTLED = "throttled_percent:";

/** A part, and where its figures are among the columns of a trial. */
export interface PartColumn {
  part: string;
  column: string;
}

/** The columns of the parts themselves, without the parts of those, which are drawn with them. */
export function partColumns({ columns }: Series, prefix: string): PartColumn[] {
  return Object.keys(columns)
    .filter((column) => column.startsWith(prefix))
    .map((column) => ({ part: column.slice(prefix.length), column }))
    .filter(({ part }) => !part.includes("."));
}

/** The variants that have parts, in the order of their names here. */
export function variantsWithParts(rows: PartRow[], names: string[]): string[] {
  return names.filter((name) => rows.some(({ figures }) => figures.some(({ variant }) => variant === name)));
}

/** The figures of one variant in a row, if it has them. */
export function figuresOf({ figures }: PartRow, variant: string): PartFigures | undefined {
  return figures.find((each) => each.variant === variant);
}

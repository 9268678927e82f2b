/** Colours of the charts: Okabe and Ito's set, safe for the colour-blind, tuned for each background. */
export interface Palette {
  text: string;
  quiet: string;
  line: string;
  faint: string;
  paper: string;
  bar: string;
  better: string;
  worse: string;
  unsafe: string;
  series: string[];
}

const LIGHT: Palette = {
  text: "#1c2329",
  quiet: "#59646e",
  line: "#c3cad1",
  faint: "#eef1f4",
  paper: "#ffffff",
  bar: "#9dbbd6",
  better: "#00735c",
  worse: "#b5400a",
  unsafe: "#c25a00",
  series: ["#0068a8", "#c75400", "#00815f", "#a8477f", "#8a6d00", "#3b9bd1", "#5b6670", "#a03a35", "#6b56b0"],
};

const DARK: Palette = {
  text: "#e6eaee",
  quiet: "#a3adb7",
  line: "#434c55",
  faint: "#232a31",
  paper: "#14191e",
  bar: "#35597a",
  better: "#4fc3a1",
  worse: "#f0894f",
  unsafe: "#f0a04b",
  series: ["#5aaeea", "#f08a4b", "#45c29c", "#dc8fbd", "#e0bd4f", "#9ad0f5", "#a8b3bd", "#e58a84", "#b9a6f2"],
};

/** Paper is light, whatever the screen is. */
export function palette(scheme: "light" | "dark" | "print"): Palette {
  return scheme === "dark" ? DARK : LIGHT;
}

/** Light, dark or paper: charts are drawn anew when it changes. */
export const scheme = $state<{ name: "light" | "dark" | "print" }>({ name: "light" });

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const paper = window.matchMedia("print");

function update(printing: boolean): void {
  scheme.name = printing ? "print" : dark.matches ? "dark" : "light";
}

/** Follows the system and the printer from now on. */
export function followScheme(): void {
  update(paper.matches);
  dark.addEventListener("change", () => update(paper.matches));
  paper.addEventListener("change", () => update(paper.matches));
  window.addEventListener("beforeprint", () => update(true));
  window.addEventListener("afterprint", () => update(false));
}

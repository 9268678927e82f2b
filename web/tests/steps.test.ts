import { describe, expect, it } from "vitest";
import { palette } from "../src/charts/palette";
import { cycleBars, stepBars, timeline } from "../src/charts/steps";
import type { Curve, Figure, ReportDocument, StepReport, StepsReport } from "../src/lib/document";
import { accounted, besideSteps, columnsOf, isSpilled, isSpilledBeside, stepFigures, stepName, streamsOf, timesOf } from "../src/lib/steps";

const canvas = { colours: palette("light"), width: 800 };

function step(stream: string, operation: string, from_s: number, to_s: number, more: Partial<StepReport> = {}): StepReport {
  const nothing = {
    rows: null,
    error: null,
    cpu_s: null,
    parser_cpu_s: null,
    peak_bytes: null,
    read_bytes: null,
    written_bytes: null,
    spilled_bytes: null,
    spilled_beside_bytes: null,
  };
  return { stream, operation, kind: "query", from_s, to_s, ...nothing, ...more };
}

const STEPS = [
  step("power", "q14", 0, 40, { cpu_s: 70, spilled_bytes: 5e6 }),
  step("stream-2", "q06", 40.1, 60, { spilled_beside_bytes: 3e6 }),
  step("stream-1", "q21", 40.2, 90, { error: "time-limit: broken off" }),
  step("power", "q02", 40, 40, { kind: "explain", cpu_s: 1 }),
];

describe("the steps of a trial", () => {
  it("are in streams in the order in which these began, those that began together by name", () => {
    expect(streamsOf(STEPS)).toEqual(["power", "stream-1", "stream-2"]);
  });

  it("are told with what they used where that is known, and why they failed, the longest first", () => {
    expect(accounted(STEPS).map(({ operation }) => operation)).toEqual(["q21", "q14"]);
    expect(STEPS.filter(isSpilled).map(({ operation }) => operation)).toEqual(["q14"]);
    expect(STEPS.filter(isSpilledBeside).map(({ operation }) => operation)).toEqual(["q06"]);
  });

  it("are blocks from begin to end in the row of their stream", () => {
    const { series } = timeline(STEPS, canvas) as { series: { data: number[][] }[] };
    expect(series[0]?.data).toEqual([
      [0, 40, 0],
      [40, 40, 0],
      [40.1, 60, 2],
      [40.2, 90, 1],
    ]);
  });

  it("have no curve of percentiles, what users ask for beside them has", () => {
    const curve = (operation: string): Curve => ({ operation, kind: "response", points: [[50, 3]] });
    expect(besideSteps([curve("q14"), curve("retrieve")], STEPS)).toEqual([curve("retrieve")]);
  });
});

describe("the bars of cycles", () => {
  const title = (operation: string) => ({ operation, title: `the ${operation}`, metric: `${operation}_s`, column: "", facts: {}, figures: {} });
  const titles = ["reset", "load", "sum"].map(title);
  const cycle = (variant: string, number: number, times_s: Record<string, number>) => ({ variant, cycle: number, times_s });

  interface Bars {
    yAxis: { data: string[] };
    series: { name: string; stack: string; data: (number | null)[] }[];
    tooltip: { formatter: (params: { dataIndex: number }[]) => string };
  }

  it("are one for each cycle and variant, of its own steps in their order", () => {
    const cycles = [cycle("one", 1, { load: 3, reset: 1 }), cycle("one", 2, { reset: 2, load: 4 }), cycle("two", 1, { reset: 5 })];
    const { yAxis, series } = cycleBars(cycles, titles, canvas) as unknown as Bars;
    expect(yAxis.data).toEqual(["one, 1", "one, 2", "two, 1"]);
    expect(series.map(({ name, data }) => [name, data])).toEqual([
      ["the reset", [1, 2, 5]],
      ["the load", [3, 4, null]],
    ]);
    expect(new Set(series.map(({ stack }) => stack)).size).toBe(1);
  });

  it("tell a cycle's own times and their sum", () => {
    const cycles = [cycle("one", 1, { reset: 1, load: 3 }), cycle("one", 2, { reset: 2, load: 4 })];
    const { yAxis, tooltip } = cycleBars(cycles, titles, canvas) as unknown as Bars;
    expect(yAxis.data).toEqual(["cycle 1", "cycle 2"]);
    expect(tooltip.formatter([{ dataIndex: 1 }])).toBe("<b>one, cycle 2</b>: 6.00 s<br>the reset: 2.00 s<br>the load: 4.00 s");
  });
});

describe("the bars of steps", () => {
  const figure = (metric: string, median: number) => ({ metric, n: 3, median, low: median / 2, high: median * 2 });
  const document = {
    variants: [
      { name: "one", figures: [figure("q01_s", 0.02), figure("composite", 9)] },
      { name: "two", figures: [figure("q01_s", 3), figure("q02_s", 0.5)] },
    ],
  } as unknown as ReportDocument;
  const steps = {
    steps: ["q01", "q02", "q03"].map((operation) => ({ operation, title: "", metric: `${operation}_s` })),
  } as unknown as StepsReport;

  it("have a figure of each step that any variant has", () => {
    const bars = stepFigures(document, steps);
    expect(bars.steps.map(({ operation }) => operation)).toEqual(["q01", "q02"]);
    expect(bars.variants.map(({ figures }) => figures.map((each) => each?.median))).toEqual([
      [0.02, undefined],
      [3, 0.5],
    ]);
  });

  it("are told with the minimum, the median and the interval over the trials", () => {
    const times = { ...figure("q01_s", 0.02), values: [0.03, 0.0101, 0.02], interval_is_range: true };
    expect(timesOf(times as unknown as Figure)).toEqual({ least: "10.1 ms", median: "20.0 ms", interval: "10.0 ms to 40.0 ms (range)" });
    expect(timesOf({ ...times, low: null, high: null, interval_is_range: false } as unknown as Figure).interval).toBe("–");
  });

  it("stand on a power of ten below the shortest time", () => {
    const { yAxis } = stepBars(stepFigures(document, steps), canvas) as { yAxis: { min: number; startValue: number } };
    expect([yAxis.min, yAxis.startValue]).toEqual([0.01, 0.01]);
  });

  it("have room for the legend on a phone, pale bars where colours return, and hatched ones where they are unsafe", () => {
    const names = Array.from({ length: 12 }, (_, place) => `data=nbd:ext4,write-delay=${place}ms`);
    const variants = names.map((name, place) => ({ name, unsafe: place === 1, figures: [] }));
    const drawn = stepBars({ steps: [], unit: "s", variants }, { ...canvas, width: 330 }) as {
      grid: { top: number };
      series: { name?: string; itemStyle?: { opacity?: number; decal?: object } }[];
    };
    expect(drawn.grid.top).toBe(20 + 16 * 12);
    const styles = drawn.series.filter(({ name }) => name).map(({ itemStyle }) => itemStyle);
    expect([styles[0]?.opacity, styles[11]?.opacity]).toEqual([undefined, 0.5]);
    expect(styles.map((style) => style?.decal !== undefined).indexOf(true)).toBe(1);
  });

  it("are of the tests of a column, in their unit, where they are tests", () => {
    const tests = {
      steps: ["read", "write"].map((column) => ({ operation: `seq-${column}`, title: "SEQ1M", metric: `seq ${column}`, column })),
    } as unknown as StepsReport;
    const told = {
      metrics: [{ name: "seq write", unit: "MB/s" }],
      variants: [{ name: "one", figures: [figure("seq read", 900), figure("seq write", 400)] }],
    } as unknown as ReportDocument;
    expect(columnsOf(tests)).toEqual(["read", "write"]);
    expect(columnsOf(steps)).toEqual([""]);
    const bars = stepFigures(told, tests, "write");
    expect(bars.steps.map(stepName)).toEqual(["SEQ1M write"]);
    expect(bars.unit).toBe("MB/s");
    const { xAxis, yAxis } = stepBars(bars, canvas) as { xAxis: { data: string[] }; yAxis: { min: number; name: string } };
    expect([xAxis.data, yAxis.min, yAxis.name]).toEqual([["SEQ1M"], 100, "MB/s"]);
    expect(timesOf({ ...figure("seq write", 400), values: [390] } as unknown as Figure, "MB/s").least).toBe("390.0");
  });
});

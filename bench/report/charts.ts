import { mkdir, writeFile } from "node:fs/promises";
import type { Bench, Chart, Row } from "../benches/bench.ts";
import { OURS } from "../libraries/index.ts";
import { figureOf } from "./statistics.ts";

const FOLDER = new URL("../../docs/benchmarks/", import.meta.url);

export async function writeCharts(bench: Bench, rows: readonly Row[], name: string): Promise<void> {
  for (const chart of bench.charts) {
    await writeSvg(`${name}-${chart.figure}`, specification(bench, chart, rows));
  }
}

/** @param specification in Vega-Lite */
export async function writeSvg(name: string, specification: object): Promise<void> {
  // Loaded on demand: whoever only looks at a table does not wait for it.
  const [{ parse, View }, { compile }] = await Promise.all([import("vega"), import("vega-lite")]);
  const common = { background: "white", padding: 8, config: { font: "sans-serif", view: { stroke: null } } };
  const view = new View(parse(compile({ ...common, ...specification }).spec), { renderer: "none" });
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${name}.svg`, FOLDER), `${await view.toSVG()}\n`);
}

/** For each value of the parameter a row of bars from zero in a scale of its own, with the least and the greatest round. */
function specification({ figures, parameter }: Bench, { figure: name, title }: Chart, rows: readonly Row[]): object {
  const figure = figures.find((figure) => figure.name === name);
  if (figure === undefined) throw new Error(`there is no figure ${name}`);
  const values = rows.flatMap((row) => {
    const spread = figureOf(row, figure);
    return spread === undefined ? [] : [{ at: row.at, library: row.library, ...spread }];
  });
  const libraries = [...new Set(rows.map(({ library }) => library))];
  const cases = [...new Set(rows.map(({ at }) => at))];
  const colours = libraries.map((library, index) => colourOf(library, index));
  const y = { type: "quantitative", title: null };
  return {
    title: { text: `${title}, by ${parameter}`, anchor: "start" },
    data: { values },
    facet: { field: "at", type: "nominal", sort: cases, title: null },
    columns: MAX_COLUMNS,
    resolve: { scale: { y: "independent" } },
    spec: {
      width: WIDTH,
      height: HEIGHT,
      encoding: { x: { field: "library", type: "nominal", sort: libraries, axis: null } },
      layer: [
        {
          mark: { type: "bar" },
          encoding: {
            y: { ...y, field: "median" },
            color: { field: "library", title: null, scale: { domain: libraries, range: colours } },
          },
        },
        {
          mark: { type: "rule", color: "#333333" },
          encoding: { y: { ...y, field: "min" }, y2: { field: "max" } },
        },
      ],
    },
  };
}

const WIDTH = 180;
const HEIGHT = 200;
const MAX_COLUMNS = 4;
const OTHERS = ["#4c78a8", "#9ecae9", "#b79a20", "#f2cf5b", "#54a24b", "#88d27a", "#bab0ac"];

function colourOf(library: string, index: number): string {
  return library === OURS ? "#d62728" : (OTHERS[index % OTHERS.length] as string);
}

import type { Bench, Figure, Row } from "../benches/bench.ts";
import { OURS } from "../libraries/index.ts";
import { advantage, figureOf } from "./statistics.ts";

/** A table before anybody has decided what it looks like. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export const ABOUT_RATIOS = `×: how many times better ${OURS} is, as the ratio of the medians; in brackets the least and the greatest ratio of a round.`;

export function tableOf(bench: Bench, rows: readonly Row[]): Table {
  const compared = bench.figures.filter(({ name }) => bench.compared.includes(name));
  const hasRemarks = rows.some(({ remarks }) => remarks.length > 0);
  return {
    head: [
      bench.parameter,
      "library",
      ...bench.figures.map(({ head }) => head),
      ...compared.map(({ head }) => `× ${head.replace(/,.*/, "")}`),
      ...(hasRemarks ? ["remarks"] : []),
    ],
    rows: rows.map((row) => {
      const ours = rows.find(({ at, library }) => at === row.at && library === OURS);
      return [
        row.at,
        row.library,
        ...bench.figures.map((figure) => cell(row, figure)),
        ...compared.map((figure) => ratioCell(ours, row, figure)),
        ...(hasRemarks ? [row.remarks.join("; ")] : []),
      ];
    }),
  };
}

function cell(row: Row, figure: Figure): string {
  const spread = figureOf(row, figure);
  return spread === undefined ? "–" : inDigits(spread.median, figure.digits);
}

function ratioCell(ours: Row | undefined, theirs: Row, figure: Figure): string {
  if (ours === undefined || ours === theirs) return "";
  const spread = advantage(ours, theirs, figure);
  if (spread === undefined) return "–";
  const { median, min, max } = spread;
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function inDigits(value: number, digits: number): string {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

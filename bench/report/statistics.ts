import type { Figure, Row } from "../benches/bench.ts";

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Undefined where there is not a single value. */
function spreadOf(values: readonly (number | undefined)[]): Spread | undefined {
  const sorted = values.flatMap((value) => (value !== undefined && Number.isFinite(value) ? [value] : []));
  sorted.sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [min, low, high, max] = [0, Math.floor(middle), Math.ceil(middle), sorted.length - 1].map((at) => sorted[at]);
  if (min === undefined || low === undefined || high === undefined || max === undefined) return undefined;
  return { median: (low + high) / 2, min, max };
}

export function figureOf(row: Row, { name }: Figure): Spread | undefined {
  return spreadOf(row.rounds.map((round) => round[name]));
}

/** How many times better `ours` is: the ratio of the medians, with the least and the greatest ratio of a round. */
export function advantage(ours: Row, theirs: Row, figure: Figure): Spread | undefined {
  const better = (a: number, b: number) => (figure.better === "more" ? a / b : b / a);
  const [mine, other] = [figureOf(ours, figure), figureOf(theirs, figure)];
  const perRound = spreadOf(
    ours.rounds.map((round, index) => {
      const [a, b] = [round[figure.name], theirs.rounds[index]?.[figure.name]];
      return a === undefined || b === undefined ? undefined : better(a, b);
    }),
  );
  if (mine === undefined || other === undefined || perRound === undefined) return undefined;
  return { ...perRound, median: better(mine.median, other.median) };
}

import type { Contestant } from "../stage/contestant.ts";

export interface Figure {
  readonly name: string;
  /** As the head of a column. */
  readonly head: string;
  readonly digits: number;
  /** Which of two values is the better one. */
  readonly better: "more" | "less";
}

/** What one contestant reached at one value of the parameter. */
export interface Row {
  /** The value of the parameter, as words. */
  readonly at: string;
  readonly library: string;
  /** Figures by name, one record for each round. */
  readonly rounds: readonly Readonly<Record<string, number>>[];
  /** What came instead of figures, or has to be known beside them. */
  readonly remarks: readonly string[];
}

export interface Chart {
  readonly figure: string;
  readonly title: string;
}

/** What a bench runs on and with. */
export interface Stage {
  /** Small: to see in seconds that it works. The figures mean nothing then. */
  readonly size: "full" | "small";
  readonly libraries: readonly string[];
  /** How long a contestant runs in one round. */
  readonly roundMs: number;
  readonly rounds: number;
  open(library: string, urls: readonly string[]): Promise<Contestant>;
  say(line: string): void;
}

export interface Bench {
  readonly name: string;
  readonly title: string;
  /** Who takes part in a smoke run: each library's adapter has to be seen at work, but not in every bench. */
  readonly smoke: "everybody" | "few";
  /** The head of the column that tells cases apart. */
  readonly parameter: string;
  readonly figures: readonly Figure[];
  /** Those of the figures by which the libraries are compared. */
  readonly compared: readonly string[];
  readonly charts: readonly Chart[];
  run(stage: Stage): Promise<readonly Row[]>;
}

/** Collects rounds into rows, in the order in which the cases come up. */
export class Rows {
  readonly #rows = new Map<
    string,
    { at: string; library: string; rounds: Record<string, number>[]; remarks: Set<string> }
  >();

  add(at: string, library: string, figures: Record<string, number> | undefined, remarks: readonly string[] = []): void {
    const key = JSON.stringify([at, library]);
    const row = this.#rows.get(key) ?? { at, library, rounds: [], remarks: new Set<string>() };
    this.#rows.set(key, row);
    if (figures !== undefined) row.rounds.push(figures);
    for (const remark of remarks) row.remarks.add(remark);
  }

  toArray(): Row[] {
    return [...this.#rows.values()].map((row) => ({ ...row, remarks: [...row.remarks] }));
  }
}

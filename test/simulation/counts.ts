/**
 * What can happen in a run, as it really happened: a reply counts as lost when there was one. A kind that never occurs in a
 * campaign is not tested by it, so that fails.
 */
export const OCCURRENCES = [
  "request lost",
  "reply lost",
  "late run from an old connection",
  "predecessor killed",
  "command sent again",
  "command given up by the client",
  "connection refused",
  "one-way stop to a server",
  "one-way stop to a client",
  "partition",
  "delay",
  "server crash",
  "restart with data",
  "restart without data",
  "early restart without data",
  "data flushed",
  "server loading",
  "server frozen",
  "server slow",
  "server refuses writes",
  "client paused",
  "client stalled in a turn",
  "client suspended",
  "client crash",
  "wall clock set forward",
  "wall clock set back",
  "acquisition aborted",
  "extension aborted",
  "extension",
  "shorter extension",
  "automatic extension",
  "lock lost",
  "lock abandoned",
  "several resources",
  "several commands at once",
  "data in the way",
  "even number of nodes",
  "Redlock closed",
  "repair",
] as const;

export type Occurred = (typeof OCCURRENCES)[number];

export class Counts {
  readonly #counts = new Map<Occurred, number>();

  add(what: Occurred, times = 1): void {
    this.#counts.set(what, this.of(what) + times);
  }

  of(what: Occurred): number {
    return this.#counts.get(what) ?? 0;
  }

  addAll(others: Readonly<Partial<Record<Occurred, number>>>): void {
    for (const [what, times] of Object.entries(others)) this.add(what as Occurred, times);
  }

  toJSON(): Partial<Record<Occurred, number>> {
    return Object.fromEntries(this.#counts);
  }

  get missing(): readonly Occurred[] {
    return OCCURRENCES.filter((what) => this.of(what) === 0);
  }
}

import type { Key } from "./history.ts";

export interface NodeKeys {
  readonly node: string;
  readonly keys: readonly Key[];
}

/** What is left of a run besides its history. */
export interface FinalState {
  /** Keys on the nodes after every client had closed. */
  readonly keysAtEnd: readonly NodeKeys[];
  /** Keys on the nodes after every ttl had passed, too. */
  readonly keysLater: readonly NodeKeys[];
  /** What the shared files say. */
  readonly counts: Readonly<Record<string, number>>;
}

import type { Command, Vote } from "../node.js";

/** A command on its way to a node, and who waits for its vote. */
export interface Request {
  readonly command: Command;
  /** What could not be sent by then must not be sent at all. */
  readonly giveUpAtMs: number;
  readonly answer: (vote: Vote) => void;
}

/** So many keys keep a server, which does nothing else meanwhile, busy for a fraction of a millisecond. */
const MAX_KEYS_TOGETHER = 128;

export function tokenOf(command: Command): string {
  return command.kind === "inspect" ? "" : command.token;
}

/** It can leave a key behind that a release has to delete. */
export function isWrite({ kind }: Command): boolean {
  return kind === "acquire" || kind === "repair" || kind === "extend";
}

/** In this order, in loads of bounded size. */
export function* loads(requests: readonly Request[]): Iterable<readonly Request[]> {
  let start = 0;
  let keyCount = 0;
  for (const [index, { command }] of requests.entries()) {
    if (index > start && keyCount + command.keys.length > MAX_KEYS_TOGETHER) {
      yield requests.slice(start, index);
      start = index;
      keyCount = 0;
    }
    keyCount += command.keys.length;
  }
  if (start < requests.length) yield requests.slice(start);
}

import type { Command, Vote } from "../node.js";

/** A command on its way to a node, and who waits for its vote. */
export interface Request {
  readonly command: Command;
  /** What could not be sent by then must not be sent at all. */
  readonly giveUpAtMs: number;
  readonly answer: (vote: Vote) => void;
}

export function tokenOf(command: Command): string {
  return command.kind === "inspect" ? "" : command.token;
}

/** It can leave a key behind that a release has to delete. */
export function isWrite({ kind }: Command): boolean {
  return kind === "acquire" || kind === "repair" || kind === "extend";
}

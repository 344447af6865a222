import type { Command, LockNode, NodeStatus, Vote } from "../../src/node.ts";
import type { Invariant } from "./referee.ts";

type Send = (command: Command, timeoutMs: number) => Promise<Vote>;

/** A mistake that a lock library could make, put between the real rounds and the real nodes. */
export interface Flaw {
  /** What has to notice it, whichever is first. */
  readonly breaks: readonly Invariant[];
  /** It shows only where servers forget. */
  readonly needsForgetting?: true;
  spoil(node: LockNode): LockNode;
}

const GRANTED: Vote = { vote: "granted", found: { key: "ours" } };

/** The simulator itself is tested with these: it must find each one soon. */
export const FLAWS = {
  "a denial counts as a grant": {
    breaks: ["mutual exclusion", "keys when handed over"],
    spoil: (node) =>
      spoiled(node, (send) => async (command, timeoutMs) => {
        const vote = await send(command, timeoutMs);
        return vote.vote === "denied" && command.kind === "acquire" ? GRANTED : vote;
      }),
  },
  "silence counts as a grant": {
    breaks: ["mutual exclusion", "keys when handed over"],
    spoil: (node) =>
      spoiled(node, (send) => async (command, timeoutMs) => {
        const vote = await send(command, timeoutMs);
        return vote.vote === "unknown" && command.kind === "acquire" ? GRANTED : vote;
      }),
  },
  "an extension creates keys": {
    breaks: ["not taken back"],
    needsForgetting: true,
    spoil: (node) =>
      spoiled(
        node,
        (send) => (command, timeoutMs) =>
          send(command.kind === "extend" ? { ...command, kind: "repair" } : command, timeoutMs),
      ),
  },
  "an extension that was not answered counts": {
    breaks: ["mutual exclusion", "not taken back", "keys while held"],
    spoil: (node) =>
      spoiled(node, (send) => async (command, timeoutMs) => {
        const vote = await send(command, timeoutMs);
        return vote.vote === "unknown" && command.kind === "extend" ? GRANTED : vote;
      }),
  },
  "a release deletes whatever is there": {
    breaks: ["mutual exclusion", "keys while held", "keys when handed over"],
    spoil: (node) =>
      spoiled(node, (send) => async (command, timeoutMs) => {
        const vote = await send(command, timeoutMs);
        if (command.kind !== "release") return vote;
        const seen = await send({ kind: "inspect", keys: command.keys }, timeoutMs);
        if (seen.vote === "granted" && seen.found.key === "another" && seen.found.token !== undefined) {
          await send({ ...command, token: seen.found.token }, timeoutMs);
        }
        return vote;
      }),
  },
  "a node that was silent is not released": {
    breaks: ["nothing left at once"],
    spoil: (node) => {
      const silent = new Set<string>();
      return spoiled(node, (send) => async (command, timeoutMs) => {
        if (command.kind === "release" && silent.has(command.token)) return GRANTED;
        if (command.kind !== "acquire") return send(command, timeoutMs);
        silent.add(command.token);
        const vote = await send(command, timeoutMs);
        if (vote.vote !== "unknown") silent.delete(command.token);
        return vote;
      });
    },
  },
} as const satisfies Record<string, Flaw>;

export type FlawName = keyof typeof FLAWS;

export function flawOf(name: FlawName): Flaw {
  return FLAWS[name];
}

function spoiled(node: LockNode, spoil: (send: Send) => Send): LockNode {
  return {
    name: node.name,
    send: spoil((command, timeoutMs) => node.send(command, timeoutMs)),
    status: (): NodeStatus => node.status(),
    close: () => node.close(),
  };
}

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { vi } from "vitest";
import type { NodeStatus, Redlock } from "../../../src/index.ts";

/** Limits, not waits: the event comes long before. */
const LIMIT_MS = 15_000;

/** Resolves when the nodes' status is as wanted: it is looked at now and whenever a node reports a change. */
export async function untilNodes(redlock: Redlock, isWanted: (nodes: readonly NodeStatus[]) => boolean): Promise<void> {
  if (isWanted(redlock.nodes)) return;
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      unsubscribe("redlock-quorum:node", look);
      clearTimeout(limit);
    };
    const limit = setTimeout(() => {
      end();
      reject(new Error(`the nodes did not get there: ${JSON.stringify(redlock.nodes, undefined, 1)}`));
    }, LIMIT_MS);
    // The message comes in the middle of the change: its consequences are looked at when they have happened.
    const look = () =>
      setImmediate(() => {
        if (!isWanted(redlock.nodes)) return;
        end();
        resolve();
      });
    subscribe("redlock-quorum:node", look);
  });
}

export function untilReady(redlock: Redlock): Promise<void> {
  return untilNodes(redlock, (nodes) => nodes.every(({ state }) => state === "ready"));
}

export function untilState(redlock: Redlock, index: number, state: NodeStatus["state"]): Promise<void> {
  return untilNodes(redlock, (nodes) => nodes[index]?.state === state);
}

/** For what nobody reports: a key on a server, say. */
export async function untilTrue(look: () => Promise<boolean> | boolean): Promise<void> {
  await vi.waitUntil(look, { timeout: LIMIT_MS, interval: 5 });
}

import type { Master } from "../../fixture/masters.ts";
import { anyLengthMs, everywhere, type NodeFault, noLengthMs, nothing } from "./fault.ts";
import { flush, lastKeysOf, unpause } from "./keys.ts";

export const FREEZE: NodeFault = {
  name: "server frozen",
  part: "server",
  available: everywhere,
  lengthMs: anyLengthMs,
  inject: (node) => node.freeze(),
  heal: (node) => node.thaw(),
};

/** Also when there is nothing to flush: what counts is that no key of a live lock stays. */
export const FLUSH: NodeFault = {
  name: "FLUSHALL",
  part: "server",
  losesKeys: true,
  available: everywhere,
  lengthMs: noLengthMs,
  inject: async (node, strike) => strike.wiped(node, await flush(node), true),
  heal: nothing,
};

export const SCRIPT_FLUSH: NodeFault = {
  name: "SCRIPT FLUSH",
  part: "server",
  available: everywhere,
  lengthMs: noLengthMs,
  async inject(node) {
    await node.admin("SCRIPT", "FLUSH");
  },
  heal: nothing,
};

export const OUT_OF_MEMORY: NodeFault = {
  name: "server out of memory",
  part: "server",
  available: everywhere,
  lengthMs: anyLengthMs,
  async inject(node) {
    await node.admin("CONFIG", "SET", "maxmemory", 1);
  },
  async heal(node) {
    await node.admin("CONFIG", "SET", "maxmemory", 0);
  },
};

/** It answers nothing until the threshold and BUSY from there on. */
const BUSY_FROM_MS = 100;

export const BUSY: NodeFault = {
  name: "server busy with a script",
  part: "server",
  // It takes a whole processor.
  maxVictims: 1,
  available: everywhere,
  lengthMs: (chance) => chance.magnitude(30, 1_500),
  async inject(node) {
    await node.admin("CONFIG", "SET", "busy-reply-threshold", BUSY_FROM_MS);
    // It ends when it is killed, with an error.
    node.admin("EVAL", "while true do end", 0).catch(() => {});
    await until(async () => /^BUSY/.test(await answerOf(node, "PING")), "the script did not begin");
  },
  async heal(node) {
    await until(async () => (await answerOf(node, "SCRIPT", "KILL")) === "OK", "the script did not end");
  },
};

/** Nobody is there: it stays the master's data, read-only. */
const NOBODY = ["127.0.0.1", 1] as const;

export const REPLICA_OF_NOBODY: NodeFault = {
  name: "master made a replica of nobody",
  part: "server",
  available: everywhere,
  lengthMs: anyLengthMs,
  async inject(node) {
    await node.admin("REPLICAOF", ...NOBODY);
  },
  async heal(node) {
    await node.admin("REPLICAOF", "NO", "ONE");
  },
};

/** Its data is replaced by the other's. In containers a server does not reach the others. */
export const REPLICA_OF_OTHER: NodeFault = {
  name: "master made a replica of another",
  part: "server",
  losesKeys: true,
  maxVictims: 1,
  available: ({ backend }) => backend === "process",
  lengthMs: (chance) => chance.between(500, 4_000),
  async inject(node, strike) {
    const { nodes } = strike.cluster;
    const other = nodes[(nodes.indexOf(node) + 1) % nodes.length] as (typeof nodes)[number];
    const keys = await lastKeysOf(node);
    strike.wiped(node, keys, false);
    await node.admin("REPLICAOF", other.host, other.port);
    await unpause(node);
  },
  async heal(node) {
    await node.admin("REPLICAOF", "NO", "ONE");
  },
};

/** A limit, not a wait. */
const LIMIT_MS = 10_000;

async function until(isSo: () => Promise<boolean>, complaint: string): Promise<void> {
  const limitMs = performance.now() + LIMIT_MS;
  while (!(await isSo())) if (performance.now() > limitMs) throw new Error(complaint);
}

function answerOf(node: Master, command: string, ...args: string[]): Promise<string> {
  return node.admin(command, ...args).then(String, (error: Error) => error.message);
}

import { anyLengthMs, everywhere, type NodeFault, noLengthMs, nothing } from "./fault.ts";
import { lastKeysOf } from "./keys.ts";

/** Redis and Valkey keep every answered write over a SIGKILL with the fixture's settings. */
export const KILL: NodeFault = {
  name: "server killed",
  part: "server",
  available: everywhere,
  lengthMs: anyLengthMs,
  inject: (node) => node.kill(),
  heal: (node) => node.restart({ data: "kept" }),
};

export const RESTART_KEPT: NodeFault = {
  name: "server restarted with its data",
  part: "server",
  available: everywhere,
  lengthMs: noLengthMs,
  inject: (node) => node.restart({ data: "kept" }),
  heal: nothing,
};

/** It may have forgotten locks that are still held. */
export const RESTART_EMPTY: NodeFault = {
  name: "server restarted empty",
  part: "server",
  losesKeys: true,
  available: everywhere,
  lengthMs: noLengthMs,
  async inject(node, strike) {
    const keys = await lastKeysOf(node);
    await node.kill();
    strike.wiped(node, keys, true);
    await node.restart({ data: "empty" });
  },
  heal: nothing,
};

/** What no lock lives for: then nothing is lost with the data. */
const LONGER_MS = 100;

export const RESTART_EMPTY_LATE: NodeFault = {
  name: "server restarted empty after the longest ttl",
  part: "server",
  maxVictims: 2,
  available: everywhere,
  lengthMs: (chance, { longestTtlMs }) => longestTtlMs + LONGER_MS + chance.between(0, 1_000),
  inject: (node) => node.kill(),
  heal: (node, { cluster, lengthMs }) =>
    node.restart({ data: lengthMs > cluster.longestTtlMs + LONGER_MS / 2 ? "empty" : "kept" }),
};

/**
 * One client: a process of its own that uses the built package as an application would, and writes down what it does.
 *
 * Usage: client.ts ORDER   as JSON. It goes on until it is told to stop.
 */

import { subscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../simulation/chance.ts";
import { Caller } from "./caller.ts";
import { Calls } from "./calls.ts";
import { FLAWS, type FlawName, type Locks } from "./flaws.ts";
import { Journal, nowMs } from "./history.ts";
import type { Stay } from "./stay.ts";
import { NODE_TIMEOUT_MS } from "./terms.ts";
import type { Traffic } from "./traffic.ts";

export interface Order {
  readonly name: string;
  readonly seed: number;
  readonly urls: readonly string[];
  readonly traffic: Traffic;
  /** Of the history. */
  readonly journalFolder: string;
  /** Of the shared files. */
  readonly folder: string;
  readonly flaw?: FlawName;
}

/** What a client tells the runner now and then. */
export interface Pulse {
  /** How many nodes vote. */
  readonly ready: number;
  /** Locks that it has got so far. */
  readonly grants: number;
}

const BEAT_MS = 25;
/** Beyond it a beat that is late counts as a stall of the process. */
const STALL_MS = 75;
const PULSE_MS = 100;
/** A limit, not a wait: by then the client has to be well again once its nodes are. */
const SETTLING_LIMIT_MS = 15_000;

const order = JSON.parse(process.argv[2] ?? "") as Order;
// The built package, as its users get it. Its name is no literal, so that the types come from the sources.
const { Redlock }: typeof import("../../src/index.ts") = await import(String("redlock-quorum"));
const journal = new Journal(order.journalFolder, order.name);
const calls = new Calls(journal);
const stays = new Set<Stay>();
const stopping = new AbortController();
const redlock = new Redlock(order.urls, { nodeTimeoutMs: NODE_TIMEOUT_MS, backoff: { minMs: 5, maxMs: 100 } });
const locks: Locks = order.flaw === undefined ? redlock : FLAWS[order.flaw](redlock);

let grants = 0;
const seen = () => redlock.nodes.flatMap(({ state }, node) => (state === "ready" ? [node] : []));
const ready = () => seen().length;
const kept = () => redlock.nodes.reduce((sum, { keptReleases = 0 }) => sum + keptReleases, 0);
const tell = () => process.send?.({ ready: ready(), grants } satisfies Pulse);

process.on("message", () => stopping.abort("stopping"));
// Without a runner there is nobody left to work for.
process.on("disconnect", () => process.exit());
subscribe("redlock-quorum:node", () =>
  queueMicrotask(() => {
    journal.write({ is: "sees", nodes: seen() });
    tell();
  }),
);
const pulse = setInterval(tell, PULSE_MS);

let lastBeatMs = nowMs();
const heart = setInterval(() => {
  const atMs = nowMs();
  if (atMs - lastBeatMs > STALL_MS) journal.write({ is: "stalled", sinceMs: lastBeatMs }, atMs);
  lastBeatMs = atMs;
  for (const stay of stays) stay.look();
}, BEAT_MS);

journal.write({ is: "started" });
const chance = new Chance(order.seed);
await Promise.all(
  Array.from({ length: order.traffic.callers }, (_, index) =>
    new Caller({
      ...{ locks, journal, calls, stays, traffic: order.traffic, folder: order.folder, stopping: stopping.signal },
      chance: new Chance(chance.whole(0, 2 ** 32), index),
      onGrant: () => {
        grants += 1;
        tell();
      },
    }).run(),
  ),
);
const limitMs = nowMs() + SETTLING_LIMIT_MS;
while ((ready() < order.urls.length || kept() > 0) && nowMs() < limitMs) await sleep(BEAT_MS);
journal.write({ is: "settled", ready: ready(), kept: kept() });
const closing = calls.invoke({ operation: "close", limitMs: NODE_TIMEOUT_MS });
await locks.close();
calls.ok(closing);
clearInterval(heart);
clearInterval(pulse);
journal.write({ is: "ended" });
journal.close();
process.disconnect();
// Whoever hoards has open connections left.
if (order.flaw !== undefined) process.exit();

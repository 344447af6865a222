/**
 * One of several processes that increment a number in a file, each increment under the lock, with the built package.
 *
 * Usage: worker.ts FOLDER URL…   It goes on until it is told to stop, and reports each turn to its parent.
 */

import { subscribe } from "node:diagnostics_channel";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { builtPackage } from "../support/built.ts";
import type { Report } from "./team.ts";

const [folder = "", ...urls] = process.argv.slice(2);
const { Redlock, RedlockError } = await builtPackage();
const redlock = new Redlock(urls, { backoff: { minMs: 2, maxMs: 40 } });

function report(message: Report): void {
  process.send?.(message);
}

/** Longer than the whole test: what is left behind stays to be seen. */
const TTL_MS = 120_000;

let isStopping = false;
process.on("message", () => {
  isStopping = true;
});
// Without a parent there is nobody left to work for.
process.on("disconnect", () => process.exit());

const tellReady = () => report({ kind: "ready", nodes: redlock.nodes.filter(({ state }) => state === "ready").length });
subscribe("redlock-quorum:node", () => queueMicrotask(tellReady));

/** Two at the same time show twice: in the file that only one can make, and in the number that is lost. */
async function increment(throwIfLost: () => void): Promise<void> {
  const presence = join(folder, "presence");
  try {
    closeSync(openSync(presence, "wx"));
  } catch {
    report({ kind: "overlap" });
    return;
  }
  try {
    const count = Number(readFileSync(join(folder, "count"), "utf8"));
    await turn();
    throwIfLost();
    writeFileSync(join(folder, "count"), String(count + 1));
    report({ kind: "incremented" });
  } finally {
    rmSync(presence);
  }
}

while (!isStopping) {
  try {
    await redlock.using("count", TTL_MS, { waitMs: 5_000 }, (_, lock) => increment(() => lock.throwIfLost()));
  } catch (error) {
    report({ kind: "failed", code: RedlockError.is(error) ? error.code : String(error), message: String(error) });
  }
  // Others get their turn.
  await turn();
}
await redlock.close();
process.disconnect();

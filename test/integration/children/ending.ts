/**
 * A program that has nothing left to do. Usage: ending.ts close URL… | held URL… | memory | waiting
 *
 * - `close`: it used locks and closed the Redlock.
 * - `held`: it still holds a lock, but its connections are gone.
 * - `memory`: the same without any connection.
 * - `waiting`: it waits for a lock, and nothing else would keep it alive.
 */
import { Redis } from "ioredis";
import { builtPackage, builtTesting } from "../../support/built.ts";

const [how, ...urls] = process.argv.slice(2);
const { Redlock } = await builtPackage();
const { MemoryNode } = await builtTesting();

if (how === "close") {
  const redlock = new Redlock(urls);
  const lock = await redlock.acquire("ending", 60_000, { autoExtend: true });
  void redlock.acquire("ending", 60_000, { waitMs: 60_000 }).catch(() => {});
  await lock.extend();
  await redlock.close();
}
if (how === "held") {
  const clients = urls.map((url) => new Redis(url));
  const redlock = new Redlock(clients);
  const lock = await redlock.acquire("ending", 60_000, { autoExtend: true });
  lock.signal.addEventListener("abort", () => {});
  for (const client of clients) client.disconnect();
}
if (how === "memory" || how === "waiting") {
  const redlock = new Redlock([new MemoryNode(), new MemoryNode(), new MemoryNode()]);
  await redlock.acquire("ending", 60_000, { autoExtend: true });
  if (how === "waiting") {
    const error = await redlock.acquire("ending", 60_000, { waitMs: 300 }).catch((reason: unknown) => reason);
    console.log(String(error));
  }
}
console.log("nothing left to do");

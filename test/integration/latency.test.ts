import { afterAll, beforeAll, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { resourceName } from "./support/keys.ts";
import { untilReady } from "./support/status.ts";

/** Healthy and faulty blocks take turns, so that whatever else the machine does meets both. */
const BLOCKS = 6;
const CYCLES_PER_BLOCK = 250;
const MAX_RATIO = 1.2;

let masters: Masters;
let redlock: Redlock;
beforeAll(async () => {
  masters = await startMasters(5);
  redlock = new Redlock(masters.urls);
  await untilReady(redlock);
  await cycles();
});
afterAll(async () => {
  await redlock?.close();
  await masters?.stop();
});

/** How long each of so many cycles of acquire and release took, ms. */
async function cycles(): Promise<number[]> {
  const tookMs: number[] = [];
  for (let count = 0; count < CYCLES_PER_BLOCK; count += 1) {
    const resource = resourceName();
    const startMs = performance.now();
    const lock = await redlock.acquire(resource, 60_000);
    await lock.release();
    tookMs.push(performance.now() - startMs);
  }
  return tookMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

const faulty = () => [masters.at(3), masters.at(4)];

const faults = [
  {
    name: "killed",
    begin: () => Promise.all(faulty().map((master) => master.kill())),
    end: () => Promise.all(faulty().map((master) => master.restart({ data: "empty" }))),
  },
  {
    name: "frozen",
    begin: () => Promise.all(faulty().map((master) => master.freeze())),
    end: () => Promise.all(faulty().map((master) => master.thaw())),
  },
];

test.each(faults)("two of five masters $name: acquire and release take no longer", async ({ name, begin, end }) => {
  const [healthy, faulted]: [number[], number[]] = [[], []];
  for (let block = 0; block < BLOCKS; block += 1) {
    healthy.push(...(await cycles()));
    await begin();
    // From the first cycle on: also while the nodes have not been found out yet.
    faulted.push(...(await cycles()));
    expect(redlock.nodes.slice(0, 3).every((node) => node.state === "ready")).toBe(true);
    expect(redlock.nodes.slice(3).map((node) => node.state)).not.toContain("unfit");
    await end();
    await untilReady(redlock);
  }
  const [before, after] = [median(healthy), median(faulted)];
  console.log(
    `acquire + release, median of ${healthy.length}: healthy ${before.toFixed(3)} ms, two ${name} ${after.toFixed(3)} ms, ` +
      `ratio ${(after / before).toFixed(2)}; slowest ${Math.max(...healthy).toFixed(1)} and ${Math.max(...faulted).toFixed(1)} ms`,
  );
  expect(after / before).toBeLessThan(MAX_RATIO);
});

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Patience } from "../../src/patience.ts";
import type { Runtime } from "../../src/runtime.ts";
import { VirtualRuntime } from "../support/virtual-runtime.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("row 30: a caller that sleeps without end keeps nothing of its sleeps", async () => {
  const clocks = new VirtualRuntime();
  const runtime: Runtime = Object.assign(Object.create(clocks) as Runtime, {
    nowMs: clocks.nowMs,
    setTimer: (_: number, callback: () => void) => {
      queueMicrotask(callback);
      return { cancel: () => {} };
    },
  });
  const patience = new Patience(runtime, Number.POSITIVE_INFINITY, undefined);
  const sleepOften = async () => {
    for (let sleeps = 0; sleeps < 100_000; sleeps += 1) await patience.sleep(10);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await sleepOften();
  const after = await sleepOften();
  // One closure or promise kept per sleep would be 5 MB and more.
  expect(after - before).toBeLessThan(2_000_000);
});

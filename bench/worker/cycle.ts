import { createHistogram, performance } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Library } from "../libraries/library.ts";
import { within } from "./limit.ts";
import { profiled } from "./profile.ts";
import { CYCLE_TTL_MS, type CycleInput, type CycleReport, type FirstReport, resourceName } from "./tasks.ts";

const NS_PER_MS = 1e6;
/** Commands that nobody waits for are behind the cycle's own; a server that does not answer is not waited for. */
const DRAIN_LIMIT_MS = 500;

/** Acquire and release, again and again, by some callers at once. */
export async function cycle(library: Library, clients: readonly Redis[], input: CycleInput): Promise<CycleReport> {
  const { callers, ms, limitMs, profile } = input;
  const latencyNs = createHistogram();
  const failures: string[] = [];
  let atWork = callers;

  async function call(resource: string, endMs: number): Promise<void> {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      try {
        const lock = await library.acquire(resource, CYCLE_TTL_MS);
        await lock.release();
        latencyNs.record(Math.max(1, Math.round((performance.now() - startMs) * NS_PER_MS)));
      } catch (error) {
        failures.push(String(error));
        // A library that fails at once would let nothing else happen.
        await turn();
      }
    }
    atWork -= 1;
  }

  const run = async () => {
    const cpu = process.cpuUsage();
    const startMs = performance.now();
    const calls = Array.from({ length: callers }, (_, index) => call(resourceName(index), startMs + ms));
    await within(ms + limitMs, Promise.all(calls));
    const elapsedMs = performance.now() - startMs;
    const { user, system } = process.cpuUsage(cpu);
    return { elapsedMs, cpuUs: user + system };
  };
  const { elapsedMs, cpuUs } = profile === undefined ? await run() : await profiled(profile, run);
  const [failure] = failures;
  const report: CycleReport = {
    cycles: latencyNs.count,
    elapsedMs,
    p50Ms: latencyNs.percentile(50) / NS_PER_MS,
    p99Ms: latencyNs.percentile(99) / NS_PER_MS,
    cpuUs,
    failures: failures.length,
    ...(failure === undefined ? {} : { failure }),
    hung: atWork,
  };
  await within(DRAIN_LIMIT_MS, Promise.allSettled(clients.map((client) => client.ping())));
  return report;
}

/** One cycle, and how long it takes. */
export async function first(library: Library, { limitMs }: { limitMs: number }): Promise<FirstReport> {
  const startMs = performance.now();
  const call = async () => {
    try {
      const lock = await library.acquire(resourceName(0), CYCLE_TTL_MS);
      await lock.release();
      return "granted" as const;
    } catch {
      return "failed" as const;
    }
  };
  const outcome = await within(limitMs, call());
  return { tookMs: performance.now() - startMs, ...(outcome === undefined ? {} : { outcome }) };
}

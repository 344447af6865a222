import { setTimeout as sleep } from "node:timers/promises";
import type { Master, Masters } from "../../test/fixture/masters.ts";
import { contender } from "../libraries/index.ts";
import type { Contestant } from "../stage/contestant.ts";
import { measureCycles } from "../stage/cycles.ts";
import { quorumTtls, quorumth } from "../stage/leases.ts";
import { flush, keyCounts, startServers } from "../stage/servers.ts";
import { resourceName } from "../worker/tasks.ts";
import { type Bench, Rows, type Stage } from "./bench.ts";
import { LIMIT_MS } from "./crowd.ts";

const NODES = 5;
const COUNTS = { full: [1_000, 10_000, 50_000, 100_000], small: [20] };
const TTLS_MS = { full: [10_000, 60_000], small: [700] };
/** The laziest extends when nine tenths of the ttl are over: three extensions of every lock. */
const WATCHED_TTLS = { full: 3, small: 1 };
/** The long ttl is about what it saves; one extension of every lock shows that. */
const LONGEST_WATCH_MS = 75_000;
const ACQUIRING_LIMIT_MS = 120_000;
const WARM_UP_CALLERS = 64;
const SAMPLES = { full: 10, small: 2 };
const SAMPLE_SIZE = 500;

export const keep: Bench = {
  name: "keep",
  smoke: "everybody",
  title: "Locks that are held and extend themselves, five nodes",
  parameter: "locks, ttl",
  figures: [
    { name: "lost", head: "lost", digits: 0, better: "less" },
    { name: "minTtlShare", head: "least remaining ttl", digits: 2, better: "more" },
    { name: "cpuShare", head: "client CPU, cores", digits: 3, better: "less" },
    { name: "heapBytes", head: "heap, bytes/lock", digits: 0, better: "less" },
    { name: "acquiredPerSecond", head: "acquired/s", digits: 0, better: "more" },
  ],
  compared: ["cpuShare", "heapBytes"],
  charts: [
    { figure: "cpuShare", title: "CPU of the client, cores" },
    { figure: "heapBytes", title: "Heap, bytes per lock" },
  ],
  async run(stage) {
    const rows = new Rows();
    await using masters = await startServers(NODES);
    for (const ttlMs of TTLS_MS[stage.size]) {
      const overstrained = new Set<string>();
      for (const count of COUNTS[stage.size]) {
        stage.say(`${count} locks, ttl ${ttlMs / 1_000} s`);
        for (const library of stage.libraries.filter((name) => contender(name).keeps && !overstrained.has(name))) {
          const { figures, remarks } = await keepLocks(stage, library, masters, count, ttlMs);
          stage.say(`${library}: ${figures.lost} lost`);
          rows.add(`${count}, ${ttlMs / 1_000} s`, library, figures, remarks);
          // Who cannot keep these is not asked to keep more.
          if (figures.lost > 0) overstrained.add(library);
        }
      }
    }
    return rows.toArray();
  },
};

async function keepLocks(stage: Stage, library: string, masters: Masters, count: number, ttlMs: number) {
  await using contestant = await stage.open(library, masters.urls);
  // Code that is compiled on the way would be counted as heap of the locks.
  await measureCycles(contestant, masters.nodes, { callers: WARM_UP_CALLERS, ms: stage.roundMs, limitMs: LIMIT_MS });
  const acquiring = await contestant.ask("keep", { count, ttlMs, limitMs: ACQUIRING_LIMIT_MS });
  const watchMs = Math.min(ttlMs * WATCHED_TTLS[stage.size], Math.max(ttlMs, LONGEST_WATCH_MS));
  const [{ cpuShare, held }, minTtlMs] = await Promise.all([
    contestant.ask("watch", { ms: watchMs }),
    sampleTtls(stage, contestant, masters.nodes, count, watchMs),
  ]);
  const onServers = quorumth(await keyCounts(masters.nodes));
  await contestant.ask("letGo", { limitMs: ACQUIRING_LIMIT_MS });
  const keysLeft = quorumth(await keyCounts(masters.nodes));
  await contestant.stop();
  await flush(masters.nodes);

  const remarks = [
    ...(acquiring.acquired < count
      ? [`${acquiring.acquired} acquired of ${count}: ${acquiring.failure ?? "too slow"}`]
      : []),
    ...(held !== onServers ? [`${held} believed held, ${onServers} on the servers`] : []),
    ...(keysLeft > 0 ? [`${keysLeft} keys left`] : []),
  ];
  const figures = {
    lost: count - Math.min(held, onServers),
    minTtlShare: minTtlMs / ttlMs,
    cpuShare,
    heapBytes: acquiring.heapBytesPerLock,
    acquiredPerSecond: (acquiring.acquired / acquiring.tookMs) * 1_000,
  };
  return { figures, remarks };
}

/** The least that any of some locks had left, at some moments. */
async function sampleTtls(
  stage: Stage,
  { library }: Contestant,
  masters: readonly Master[],
  count: number,
  watchMs: number,
): Promise<number> {
  const prefix = contender(library).keyPrefix ?? "";
  let least = Number.POSITIVE_INFINITY;
  const step = Math.max(1, Math.floor(count / SAMPLE_SIZE));
  for (let sample = 0; sample < SAMPLES[stage.size]; sample++) {
    const size = Math.min(SAMPLE_SIZE, count);
    const keys = Array.from({ length: size }, (_, index) => prefix + resourceName((index * step + sample) % count));
    least = Math.min(least, ...(await quorumTtls(masters, keys)));
    await sleep(watchMs / SAMPLES[stage.size]);
  }
  return least;
}

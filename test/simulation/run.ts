import type { Calls } from "./calls.ts";
import type { Client } from "./client.ts";
import type { Occurred } from "./counts.ts";
import { LONGEST_HOLD_TTLS } from "./faults.ts";
import { judgeKeeping } from "./keeping.ts";
import { type Plan, planOf, type Wish } from "./plan.ts";
import type { Violation } from "./referee.ts";
import type { Entry } from "./timeline.ts";
import { World } from "./world.ts";

export interface Result {
  readonly wish: Wish;
  readonly violation: Violation | undefined;
  readonly hash: string;
  readonly events: number;
  readonly counts: Partial<Record<Occurred, number>>;
  /** Empty unless they were asked for. */
  readonly entries: readonly Entry[];
}

/** Within so long after the last fault every connection is made anew, verified, and has carried what was kept for it. */
const RECOVERY_MS = 5_000;

/** One run, from its seed to its verdict. To be called outside of promise reactions. */
export function run(wish: Wish, { isRecording = false } = {}): Result {
  const { stackTraceLimit } = Error;
  // The library makes an error for each call that fails, and nobody looks where from.
  Error.stackTraceLimit = 0;
  try {
    return runWorld(wish, isRecording);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function runWorld(wish: Wish, isRecording: boolean): Result {
  const plan = planOf(wish);
  const world = new World(plan, isRecording);
  const { time, timeline, checker } = world;
  // Safety: anything may happen.
  time.runUntil(plan.safetyMs);
  world.calmDown();
  // Liveness: faults have stopped, and what was promised for that comes true.
  letCallersFinish(world);
  judgeRecovery(world);
  judgeLiveness(world);
  if (plan.trial !== undefined) judgeKeeping(world, plan.trial);
  judgeSilence(world);
  const { violation } = checker.referee;
  const counts = world.counts.toJSON();
  return { wish, violation, hash: timeline.hash, events: time.events, counts, entries: timeline.entries };
}

function letCallersFinish(world: World): void {
  const { time, plan, checker } = world;
  const boundMs = 20 * plan.maxTtlMs + RECOVERY_MS;
  time.runUntil(time.nowMs + boundMs, () => world.areCallersDone && world.areAllUp);
  if (!world.areCallersDone) checker.referee.report("waiters are served", `callers are busy after ${boundMs} calm ms`);
}

/** All connections work, and what was left behind by calls that failed is gone, long before its ttl where that is long. */
function judgeRecovery({ time, servers, clients, checker, plan }: World): void {
  const startMs = time.nowMs;
  time.runUntil(startMs + RECOVERY_MS);
  for (const { name, machine, redlock, isClosed } of clients) {
    const down = machine.isDead || isClosed ? undefined : redlock.nodes.find(({ state }) => state !== "ready");
    if (down !== undefined)
      checker.referee.report("nodes recover", `${name} has ${down.name} ${down.state}: ${down.detail}`);
  }
  // Without CLIENT KILL an old connection may carry out what it carried at any time.
  if (!plan.mayKill) return;
  for (const { name, store } of servers) {
    for (const key of store.keys()) {
      const token = store.read(key)?.value ?? "";
      const owner = checker.tokens.ownerOf(token);
      // A release that began meanwhile, because a lock expired, may be on its way.
      const isDue = checker.tokens.releasedAtMs(token) < startMs;
      if (owner === undefined || owner.machine.isDead || !isDue || owner.hasEverClosed) continue;
      checker.referee.report("nothing left at once", `${name} has "${key}" of ${token}, which was released`);
    }
  }
}

/** Somebody who has seen it all, and somebody new, get the lock. */
function judgeLiveness(world: World): void {
  const { time, plan, checker, calls } = world;
  world.addClient();
  const waiting = world.clients.filter(({ machine, isClosed }) => !machine.isDead && !isClosed).slice(-2);
  const boundMs = plan.maxTtlMs * 1.1 + RECOVERY_MS + waiting.length * 4 * plan.backoffMaxMs;
  let served = 0;
  const count = (isServed: boolean) => {
    if (isServed) served += 1;
  };
  for (const client of waiting) {
    client.machine.receive(() => void waitAndRelease(client, plan, calls, boundMs).then(count));
  }
  time.runUntil(time.nowMs + boundMs + 1_000, () => served === waiting.length);
  if (served < waiting.length) {
    checker.referee.report("waiters are served", `${waiting.length - served} of ${waiting.length} wait in vain`);
  }
}

async function waitAndRelease(client: Client, plan: Plan, calls: Calls, boundMs: number): Promise<boolean> {
  const call = client.redlock.acquire(plan.resources, plan.ttlMs, { waitMs: boundMs });
  const outcome = await calls.settle(client, "acquire", boundMs, call);
  if (outcome.is === "failed") return false;
  await calls.settle(client, "release", plan.nodeTimeoutMs, outcome.value.release());
  return true;
}

/** Everything is closed; one ttl later nothing reminds of it. */
function judgeSilence({ time, plan, servers, clients, checker, calls }: World): void {
  for (const client of clients) {
    if (!client.isClosed)
      client.machine.receive(() => void calls.settle(client, "close", plan.nodeTimeoutMs, client.close()));
  }
  // What an old connection still carries may run until then, where nobody is left, or permitted, to end it.
  const lateMs = LONGEST_HOLD_TTLS * plan.maxTtlMs;
  time.runUntil(time.nowMs + lateMs + plan.maxTtlMs * (1 + plan.driftFactor) + RECOVERY_MS);
  calls.judgeEnd();
  checker.tokens.judgeEnd();
  for (const { name, store } of servers) {
    const key = store.keys().find((name) => checker.tokens.ownerOf(store.read(name)?.value ?? "") !== undefined);
    if (key !== undefined) checker.referee.report("nothing left", `${name} has "${key}" of ${store.read(key)?.value}`);
  }
}

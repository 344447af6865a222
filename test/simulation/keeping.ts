import type { Lock } from "../../src/lock.ts";
import type { Client } from "./client.ts";
import type { Trial } from "./plan.ts";
import type { World } from "./world.ts";

/** A lock that is extended by itself outlives what it has to. */
export function judgeKeeping(world: World, trial: Trial): void {
  const { time, plan, checker, clients, calls } = world;
  const holder = clients.find(({ machine, isClosed }) => !machine.isDead && !isClosed);
  if (holder === undefined) return;
  const held: Lock[] = [];
  holder.machine.receive(async () => {
    const wish = { waitMs: plan.maxTtlMs, autoExtend: true };
    const call = holder.redlock.acquire(plan.resources, plan.ttlMs, wish);
    const outcome = await calls.settle(holder, "acquire", plan.maxTtlMs, call);
    if (outcome.is === "done") held.push(outcome.value);
  });
  time.runUntil(time.nowMs + plan.maxTtlMs, () => held.length > 0);
  const [lock] = held;
  if (lock === undefined) return;
  world.note("world", `tries the lock: ${trial}`);
  if (trial === "losses") loseAll(world);
  else silenceAll(world, holder);
  const { machine } = holder;
  if (!machine.observe(() => lock.isHeld()))
    checker.referee.report("kept by itself", `${lock.token} did not outlive the ${trial}`);
  machine.receive(() => void lock.release());
}

/** As in a restart of all servers, one after the other: all have their keys before the next one loses them. */
function loseAll({ time, servers, plan }: World): void {
  // Until then a lock that somebody abandoned may have a node's key.
  time.runUntil(time.nowMs + plan.maxTtlMs * (1 + plan.driftFactor));
  for (const server of servers) {
    time.runUntil(time.nowMs + plan.ttlMs);
    server.flush();
  }
  time.runUntil(time.nowMs + plan.ttlMs);
}

/** From shortly before the first extension, after a third of the ttl, until its round is over. */
function silenceAll({ time, plan }: World, { links }: Client): void {
  time.runUntil(time.nowMs + plan.ttlMs * 0.3);
  const resumes = links.map(({ toClient }) => toClient.stop());
  time.runUntil(time.nowMs + plan.ttlMs * 0.04 + plan.nodeTimeoutMs * 1.2);
  for (const resume of resumes) resume();
  time.runUntil(time.nowMs + plan.ttlMs);
}

import { describe, expect, test } from "vitest";
import type { Lock } from "../../src/lock.ts";
import type { LockNode } from "../../src/node.ts";
import type { Link } from "./network.ts";
import type { Server } from "./server.ts";
import { onStage } from "./stage.ts";

/** Longer than the ttl. */
const STALL_MS = 500;
const ROUND_TRIP_MS = 10;

/** What the simulation found, each once more as a scene that needs no luck. */
describe("found by the simulation", () => {
  test("a release that a server refused is tried again, though nothing else is asked of the server", () =>
    onStage({}, ({ run, redlock, servers, pass }) => {
      const lock = run(() => redlock.acquire("a", 30_000));
      const [first] = servers as [Server];
      first.refusal = "MISCONF cannot save";
      run(() => lock.release());
      pass(500);
      expect(first.store.keys()).toEqual(["a"]);
      first.refusal = undefined;
      pass(2_000);
      expect(first.store.keys()).toEqual([]);
    }));

  test("a release that is refused for ever is not tried for ever", () =>
    onStage({}, ({ run, redlock, servers, nodes, pass }) => {
      const lock = run(() => redlock.acquire("a", 5_000));
      const [first] = servers as [Server];
      first.refusal = "MISCONF cannot save";
      run(() => lock.release());
      pass(3_000);
      expect(keptBy(nodes)).toBe(1);
      pass(4_000);
      expect(keptBy(nodes)).toBe(0);
    }));

  test("a lock that was seen to be over is not held again when the wall clock is set right", () =>
    onStage({}, ({ run, redlock, machine }) => {
      const lock = run(() => redlock.acquire("a", 30_000));
      machine.stepWall(3_600_000);
      expect(lock.isHeld()).toBe(false);
      machine.stepWall(-3_600_000);
      expect(lock.isHeld()).toBe(false);
    }));

  test.each(Array.from({ length: 60 }, (_, index) => index + 1))(
    "a process that stalls at its look number %i at the clock hears of its loss in its first timer turn",
    (reads) =>
      onStage({}, ({ run, begin, redlock, machine, pass }) => {
        pass(50);
        let lock: Lock | undefined;
        begin(async () => {
          machine.stallSoon(reads, STALL_MS, () => {});
          lock = await redlock.acquire("a", 300);
          void lock.signal;
        });
        pass(STALL_MS + 2 * ROUND_TRIP_MS);
        const held = lock ?? run(() => redlock.acquire("a", 300));
        expect(held.signal.aborted).toBe(!held.isHeld());
      }),
  );

  // So often an attempt's beginning looks at the clock, at least.
  test.each(Array.from({ length: 12 }, (_, index) => index + 1))(
    "a caller who stalls at look number %i at the clock until his time is over, and leaves, does not wait for the attempt under way",
    (reads) =>
      onStage({}, ({ begin, redlock, servers, machine, pass }) => {
        pass(50);
        for (const server of servers) server.freeze();
        const leaving = new AbortController();
        let isSettled = false;
        begin(async () => {
          machine.stallSoon(reads, STALL_MS, () => {});
          const call = redlock.acquire("a", 30_000, { waitMs: STALL_MS / 2, signal: leaving.signal });
          await call.finally(() => {
            isSettled = true;
          });
        });
        pass(STALL_MS + ROUND_TRIP_MS);
        machine.receive(() => leaving.abort());
        expect(isSettled).toBe(true);
      }),
  );

  test("nobody waits for a data key, also when the slowest node is one of a quorum that holds it", () =>
    onStage({}, ({ run, redlock, servers, links, pass }) => {
      pass(50);
      const [first, second] = servers as [Server, Server];
      for (const { store } of [first, second]) store.write("a", "", Number.POSITIVE_INFINITY, "hash");
      (links[0] as Link).toClient.extraMs = 50;
      const error = failureOf(() => run(() => redlock.acquire("a", 1_000, { waitMs: Number.POSITIVE_INFINITY })));
      expect(error).toMatchObject({ code: "ERR_LOCK_HELD", attempts: 1 });
    }));

  test("a node is not silent any more when its overdue answer comes, also after it was verified again", () =>
    onStage({ redis: { isOwned: false, commandTimeoutMs: 150 } }, ({ run, begin, redlock, servers, nodes, pass }) => {
      const [first] = servers as [Server];
      run(() => redlock.acquire("a", 30_000));
      first.freeze();
      // The second command finds the first one overdue; then the client gives the first one up, and INFO is asked for.
      begin(() => redlock.tryAcquire("b", 30_000));
      pass(110);
      begin(() => redlock.tryAcquire("c", 30_000));
      pass(10);
      begin(() => redlock.tryAcquire("d", 30_000));
      pass(60);
      first.thaw();
      pass(1_000);
      expect(nodes.map((node) => node.status().state)).toEqual(["ready", "ready", "ready"]);
    }));
});

function failureOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("expected a failure");
}

function keptBy(nodes: readonly LockNode[]): number {
  return nodes.reduce((sum, node) => sum + (node.status().keptReleases ?? 0), 0);
}

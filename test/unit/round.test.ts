import { describe, expect, test } from "vitest";
import { quorumOf } from "../../src/core/tally.ts";
import type { Command, Vote } from "../../src/node.ts";
import { Round, type RoundOptions } from "../../src/round.ts";
import { type Behaviour, DENIED, GRANTED, NOT_READY, ScriptedNode } from "../support/scripted-node.ts";
import { VirtualRuntime } from "../support/virtual-runtime.ts";

const TIMEOUT_MS = 250;
const acquire = (ttlMs = 10_000): Command => ({ kind: "acquire", keys: ["a"], token: "t", ttlMs });

const granted = (afterMs: number): Behaviour => ({ afterMs, vote: GRANTED });
const denied = (afterMs: number): Behaviour => ({ afterMs, vote: DENIED });
const unknown = (afterMs: number): Behaviour => ({ afterMs, vote: NOT_READY });
const silent: Behaviour = { silent: true };

/** A round on nodes that behave like that, in virtual time. */
function roundOn(behaviours: readonly Behaviour[], command = acquire(), options: Partial<RoundOptions> = {}) {
  const runtime = new VirtualRuntime();
  const startMs = runtime.nowMs();
  const nodes = behaviours.map((behaviour, index) => new ScriptedNode(runtime, `node-${index}`, behaviour));
  const heard: { node: number; vote: Vote["vote"]; afterMs: number }[] = [];
  const round = new Round({ nodes, size: quorumOf(nodes.length), driftFactor: 0.01, runtime }, command, {
    timeoutMs: TIMEOUT_MS,
    onVote: (node, { vote }) => heard.push({ node, vote, afterMs: runtime.nowMs() - startMs }),
    ...options,
  });
  const settle = async () => {
    const verdict = await runtime.run(round.settled);
    return { verdict, votes: round.votes(), afterMs: runtime.nowMs() - startMs };
  };
  return { runtime, nodes, round, heard, settle, elapsedMs: () => runtime.nowMs() - startMs };
}

describe("a round settles as early as it can", () => {
  test.each<{ what: string; nodes: Behaviour[]; verdict: string; afterMs: number }>([
    { what: "a quorum grants", nodes: [granted(1), granted(5), silent], verdict: "won", afterMs: 5 },
    { what: "the slowest does not count", nodes: [granted(1), granted(2), granted(200)], verdict: "won", afterMs: 2 },
    { what: "two deny", nodes: [denied(1), denied(4), silent], verdict: "refused", afterMs: 4 },
    { what: "two of four deny", nodes: [granted(1), granted(2), denied(3), denied(4)], verdict: "refused", afterMs: 4 },
    {
      what: "two of four deny, two hang",
      nodes: [denied(1), denied(2), silent, silent],
      verdict: "refused",
      afterMs: 2,
    },
    { what: "one of two denies", nodes: [denied(3), silent], verdict: "refused", afterMs: 3 },
    { what: "two are not ready", nodes: [unknown(0), unknown(0), silent], verdict: "unreachable", afterMs: 0 },
    { what: "one node grants", nodes: [granted(7)], verdict: "won", afterMs: 7 },
    {
      what: "one is not ready, two split",
      nodes: [unknown(0), granted(1), denied(9)],
      verdict: "contended",
      afterMs: 9,
    },
  ])("$what: $verdict after $afterMs ms", async ({ nodes, verdict, afterMs }) => {
    expect(await roundOn(nodes).settle()).toMatchObject({ verdict, afterMs });
  });

  test("and at its deadline at the latest, with the silent nodes named", async () => {
    const { settle } = roundOn([granted(1), silent, silent]);
    const { verdict, votes, afterMs } = await settle();
    expect({ verdict, afterMs }).toEqual({ verdict: "unreachable", afterMs: TIMEOUT_MS });
    expect(votes).toMatchObject([
      { name: "node-0", vote: "granted", elapsedMs: 1 },
      { name: "node-1", vote: "unknown", reason: "timeout", message: "timed out after 250 ms", elapsedMs: TIMEOUT_MS },
      { name: "node-2", vote: "unknown", reason: "timeout" },
    ]);
  });

  test("a denial that has to wait for the deadline is contention when a quorum answered", async () => {
    const { settle } = roundOn([granted(1), denied(1), silent]);
    expect(await settle()).toMatchObject({ verdict: "contended", afterMs: TIMEOUT_MS });
  });
});

describe("sending", () => {
  test("every node gets the command at once, with the time that the round listens", () => {
    const { nodes, runtime } = roundOn([silent, silent, silent]);
    for (const node of nodes) {
      expect(node.sent).toEqual([{ command: acquire(), timeoutMs: TIMEOUT_MS, atMs: runtime.nowMs() }]);
    }
  });

  test("nodes that do not vote get it too, and do not count", async () => {
    const { nodes, settle } = roundOn([granted(1), granted(2), granted(3)], acquire(), { voters: new Set([1, 2]) });
    expect(await settle()).toMatchObject({ verdict: "won", afterMs: 3 });
    expect(nodes[0]?.sent).toHaveLength(1);
  });

  test("one voter less than a quorum can be spared only by losing", async () => {
    const { settle } = roundOn([granted(1), granted(2), denied(3)], acquire(), { voters: new Set([1, 2]) });
    expect(await settle()).toMatchObject({ verdict: "refused", afterMs: 3 });
  });
});

describe("late answers", () => {
  test("are heard after the verdict and after the deadline, and change neither verdict nor its votes", async () => {
    const { settle, round, heard, runtime } = roundOn([granted(1), granted(2), silent, granted(400), silent]);
    const { verdict, votes } = await settle();
    expect(verdict).toBe("unreachable");
    await runtime.advance(1_000);
    expect(heard.at(-1)).toEqual({ node: 3, vote: "granted", afterMs: 400 });
    expect(votes[3]).toMatchObject({ vote: "unknown", reason: "timeout" });
    expect(round.verdict).toBe("unreachable");
    expect(round.votes()[3]).toMatchObject({ vote: "granted", elapsedMs: 400 });
  });

  test("`complete` waits for every node, but not beyond the deadline, and leaves no timer", async () => {
    const all = roundOn([granted(1), granted(2), granted(90)]);
    await all.runtime.run(all.round.complete);
    expect(all.elapsedMs()).toBe(90);
    expect(all.runtime.pendingTimers).toBe(0);
    const hung = roundOn([granted(1), granted(2), silent]);
    await hung.runtime.run(hung.round.complete);
    expect(hung.elapsedMs()).toBe(TIMEOUT_MS);
    expect(hung.runtime.pendingTimers).toBe(0);
  });

  test("answers that arrived while the event loop was blocked are read before the deadline strikes", async () => {
    const { runtime, settle } = roundOn([granted(1), granted(TIMEOUT_MS + 1), silent]);
    await runtime.advance(1);
    // The deadline's timer is the first thing to run afterwards; the answer is there, and has not been read.
    runtime.block(TIMEOUT_MS * 2);
    expect(await settle()).toMatchObject({ verdict: "won" });
  });

  test("an answer in the very moment of the deadline counts", async () => {
    const { settle } = roundOn([granted(1), granted(TIMEOUT_MS), silent]);
    expect(await settle()).toMatchObject({ verdict: "won", afterMs: TIMEOUT_MS });
  });
});

describe("a node that breaks its promise not to reject", () => {
  const fault = new Error("bug in a user's node");

  test.each<{ how: string; behaviour: Behaviour }>([
    { how: "rejects", behaviour: { rejects: fault } },
    { how: "throws", behaviour: { throws: fault } },
  ])("and $how has voted unknown; the others' answers stand", async ({ behaviour }) => {
    const { settle, nodes } = roundOn([behaviour, granted(1), granted(2)]);
    const { verdict, votes } = await settle();
    expect(verdict).toBe("won");
    expect(votes[0]).toMatchObject({ vote: "unknown", reason: "refused", cause: fault });
    expect(nodes.map(({ sent }) => sent.length)).toEqual([1, 1, 1]);
  });
});

describe("validity", () => {
  test("a quorum that comes when the validity is over does not win", async () => {
    const { settle } = roundOn([granted(98), granted(98), silent], acquire(100));
    expect(await settle()).toMatchObject({ verdict: "expired", afterMs: 98 });
  });

  test("what is left counts from before the first send", async () => {
    const { settle, round, runtime } = roundOn([granted(40), granted(50), silent], acquire(1_000));
    await settle();
    expect(round.validityLeftMs()).toBe(1_000 - 50 - 12);
    await runtime.advance(38);
    expect(round.validityLeftMs()).toBe(900);
  });

  test("counts the time that the machine slept, though its monotonic clock stood still", async () => {
    const { settle, runtime } = roundOn([granted(1), granted(1), silent], acquire(1_000));
    runtime.suspend(5_000);
    expect(await settle()).toMatchObject({ verdict: "expired", afterMs: 1 });
  });

  test("is not prolonged by a wall clock that is set back", async () => {
    const { settle, round, runtime } = roundOn([granted(100), granted(100), silent], acquire(1_000));
    runtime.stepWall(-60_000);
    await settle();
    expect(round.validityLeftMs()).toBe(1_000 - 100 - 12);
  });

  test.each<Command>([
    { kind: "release", keys: ["a"], token: "t", ttlMs: 1 },
    { kind: "inspect", keys: ["a"] },
  ])("does not end for $kind", async (command) => {
    const { settle, round } = roundOn([granted(200), granted(200), silent], command);
    expect(await settle()).toMatchObject({ verdict: "won" });
    expect(round.validityLeftMs()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("every pattern of answers on up to five nodes", () => {
  const PATTERNS: readonly Behaviour[] = [granted(1), denied(2), unknown(0), silent];

  test.each([1, 2, 3, 4, 5])("of %i settles by the deadline and is not won without a quorum", async (nodeCount) => {
    for (let pattern = 0; pattern < PATTERNS.length ** nodeCount; pattern += 1) {
      const behaviours = Array.from({ length: nodeCount }, (_, node) => {
        return PATTERNS[Math.floor(pattern / PATTERNS.length ** node) % PATTERNS.length] ?? silent;
      });
      const { verdict, afterMs } = await roundOn(behaviours).settle();
      const grants = behaviours.filter((behaviour) => behaviour === PATTERNS[0]).length;
      expect(verdict === "won").toBe(grants >= quorumOf(nodeCount));
      expect(afterMs).toBeLessThanOrEqual(verdict === "won" ? 1 : TIMEOUT_MS);
    }
  });
});

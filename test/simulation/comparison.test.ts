import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Command, LockNode, Vote } from "../../src/node.ts";
import { openNodes } from "../../src/nodes/input.ts";
import { systemRuntime } from "../../src/runtime.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import type { Server } from "./server.ts";
import { onStage } from "./stage.ts";

const TIMEOUT_MS = 5_000;
/** What a test takes of real time must not look like a difference. */
const TTL_SLACK_MS = 5_000;
const RUNS = 150;

/** What somebody else put there before the first command comes. */
const STATES = ["absent", "another's", "data", "hash"] as const;
type State = (typeof STATES)[number];

interface Scene {
  readonly states: readonly State[];
  readonly commands: readonly Command[];
}

/** Times to live so far apart that they can be told from one another, and so long that none ends. */
const ttlMs = fc.constantFrom(100_000, 200_000, 300_000);
const token = fc.constantFrom("mine", "yours");
const keys = fc
  .subarray(["{x}a", "{x}b", "{x}c"], { minLength: 1 })
  .chain((some) => fc.shuffledSubarray(some, { minLength: 1 }));
const command: fc.Arbitrary<Command> = fc.oneof(
  ...(["acquire", "repair", "extend", "release"] as const).map((kind) =>
    fc.record({ kind: fc.constant(kind), keys, token, ttlMs }),
  ),
  fc.record({ kind: fc.constant("inspect" as const), keys: keys.map((some) => some.slice(0, 1)) }),
);
const scene: fc.Arbitrary<Scene> = fc.record({
  states: fc.tuple(...[1, 2, 3].map(() => fc.constantFrom(...STATES))),
  commands: fc.array(command, { minLength: 1, maxLength: 12 }),
});

describe("a simulated server and a real one", () => {
  let masters: Masters;
  let admin: Redis;
  let node: LockNode;

  beforeAll(async () => {
    masters = await startMasters(1);
    const { url } = masters.at(0);
    admin = new Redis(url);
    const opened = openNodes([url], { nodeTimeoutMs: TIMEOUT_MS, runtime: systemRuntime });
    node = opened.all[0] as LockNode;
    await vi.waitUntil(() => node.status().state === "ready", { timeout: TIMEOUT_MS, interval: 5 });
  });

  afterAll(async () => {
    await node.close();
    admin.disconnect();
    await masters.stop();
  });

  test("vote the same on the same commands, and are left with the same keys", async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (played) => {
        const prefix = `${randomUUID()}:`;
        expect(await playSimulated(played, prefix)).toEqual(await playReal(played, prefix));
      }),
      { numRuns: RUNS },
    );
  }, 60_000);

  async function playReal({ states, commands }: Scene, prefix: string): Promise<readonly unknown[]> {
    for (const [index, state] of states.entries()) await put(admin, prefix + NAMES[index], state);
    const votes: unknown[] = [];
    for (const each of commands) votes.push(plain(await node.send(prefixed(each, prefix), TIMEOUT_MS)));
    for (const name of NAMES)
      votes.push(plain(await node.send({ kind: "inspect", keys: [prefix + name] }, TIMEOUT_MS)));
    return votes;
  }
});

const NAMES = ["{x}a", "{x}b", "{x}c"] as const;
const OTHERS_TTL_MS = 400_000;

function playSimulated({ states, commands }: Scene, prefix: string): Promise<readonly unknown[]> {
  return onStage({ servers: 1 }, (stage) => {
    const [{ store }] = stage.servers as [Server];
    const [node] = stage.nodes as [LockNode];
    for (const [index, state] of states.entries()) {
      const key = `${prefix}${NAMES[index]}`;
      if (state === "another's") store.write(key, "another's", OTHERS_TTL_MS, "string");
      else if (state === "data") store.write(key, "data", Number.POSITIVE_INFINITY, "string");
      else if (state === "hash") store.write(key, "", Number.POSITIVE_INFINITY, "hash");
    }
    const looks = NAMES.map((name): Command => ({ kind: "inspect", keys: [prefix + name] }));
    const sent = [...commands.map((each) => prefixed(each, prefix)), ...looks];
    return sent.map((each) => plain(stage.run(() => node.send(each, TIMEOUT_MS))));
  });
}

async function put(admin: Redis, key: string, state: State): Promise<void> {
  if (state === "another's") await admin.set(key, "another's", "PX", OTHERS_TTL_MS);
  else if (state === "data") await admin.set(key, "data");
  else if (state === "hash") await admin.hset(key, "field", "value");
}

function prefixed(each: Command, prefix: string): Command {
  return { ...each, keys: each.keys.map((key) => prefix + key) };
}

/**
 * A vote without what real time does to it. A denial tells of one of the keys that stand in the way, and which one is open; the
 * release that follows tells of the one that lives longest.
 */
function plain(vote: Vote): unknown {
  if (vote.vote === "unknown" || vote.found.key !== "another") return vote;
  if (vote.vote === "denied") return { vote: "denied", found: "another" };
  const { found } = vote;
  // Of several that live for ever either one.
  if (found.ttlMs === Number.POSITIVE_INFINITY) return { vote: "granted", found: "no lock" };
  return { ...vote, found: { ...found, ttlMs: Math.ceil((found.ttlMs ?? 0) / TTL_SLACK_MS) } };
}

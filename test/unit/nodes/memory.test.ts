import { describe, expect, test } from "vitest";
import { type Command, isLockNode } from "../../../src/node.ts";
import { MemoryNode } from "../../../src/nodes/memory.ts";
import { microtasks, VirtualRuntime } from "../../support/virtual-runtime.ts";

const TIMEOUT_MS = 250;
const acquire = (token: string, key = "a"): Command => ({ kind: "acquire", keys: [key], token, ttlMs: 10_000 });
const extend = (token: string): Command => ({ kind: "extend", keys: ["a"], token, ttlMs: 20_000 });
const release = (token: string, ttlMs = 10_000): Command => ({ kind: "release", keys: ["a"], token, ttlMs });

function open() {
  const runtime = new VirtualRuntime();
  const node = new MemoryNode({ name: "m", runtime });
  const send = (command: Command) => node.send(command);
  /** Sends, and notes what has been answered up to now: nothing is waited for. */
  const watch = (...commands: Command[]) => {
    const answers: string[] = [];
    for (const command of commands) void send(command).then((vote) => answers.push(`${command.kind} ${outcome(vote)}`));
    return answers;
  };
  return { runtime, node, send, watch };
}

function outcome(vote: Awaited<ReturnType<MemoryNode["send"]>>): string {
  return vote.vote === "unknown" ? vote.reason : vote.vote;
}

test("it is a LockNode, with a name of its own where it was given none", () => {
  const [first, second] = [new MemoryNode(), new MemoryNode()];
  expect(isLockNode(first)).toBe(true);
  expect(first.name).toMatch(/^memory-\d+$/);
  expect(second.name).not.toBe(first.name);
});

describe("expiry, on the node's own clock", () => {
  test("a key is there for its whole ttl and not longer; nothing has to run for that", async () => {
    const { runtime, node, send } = open();
    await send(acquire("t"));
    runtime.block(9_999);
    expect(node.get("a")).toBe("t");
    expect(node.ttlMs("a")).toBe(1);
    runtime.block(1);
    expect(node.get("a")).toBeUndefined();
    expect(node.keys()).toEqual([]);
    expect(await send(extend("t"))).toEqual({ vote: "denied", found: { key: "absent" } });
    expect(runtime.pendingTimers).toBe(0);
  });

  test("an acquire of a key that is ours keeps the larger time to live", async () => {
    const { node, send } = open();
    await send(acquire("t"));
    await send(extend("t"));
    await send(acquire("t"));
    expect(node.ttlMs("a")).toBe(20_000);
  });

  test("denials tell the time to live and the type, of several keys that of the one that lives longest", async () => {
    const { node, send } = open();
    node.set("a", "x", { ttlMs: 500 });
    expect(await send(acquire("t"))).toEqual({ vote: "denied", found: { key: "another", ttlMs: 500, type: "string" } });
    node.set("b", "", { type: "hash" });
    const both = await send({ kind: "acquire", keys: ["a", "b"], token: "t", ttlMs: 1 });
    expect(both).toEqual({ vote: "denied", found: { key: "another", ttlMs: Number.POSITIVE_INFINITY, type: "hash" } });
  });
});

test("a value of another type is another's, whatever it looks like", async () => {
  const { node, send } = open();
  node.set("a", "t", { type: "hash" });
  expect(await send(acquire("t"))).toMatchObject({ vote: "denied", found: { key: "another", type: "hash" } });
  await send(release("t"));
  expect(node.get("a")).toBe("t");
});

describe("down", () => {
  test("votes unknown at once, carries out nothing, and says why", async () => {
    const { node, send } = open();
    node.down("power cut");
    const vote = await send(acquire("t"));
    expect(vote).toEqual({ vote: "unknown", reason: "not-ready", message: "not connected: power cut" });
    expect(node.status()).toMatchObject({ name: "m", state: "down", detail: "not connected: power cut" });
    node.up();
    expect(node.keys()).toEqual([]);
    expect(node.status()).toEqual({ name: "m", state: "ready", keptReleases: 0 });
  });

  test("keeps its values and releases, and carries the releases out when it is up again", async () => {
    const { node, send } = open();
    await send(acquire("t"));
    node.down();
    expect(await send(release("t"))).toMatchObject({ vote: "unknown", reason: "not-ready" });
    expect(node.get("a")).toBe("t");
    expect(node.status().keptReleases).toBe(1);
    node.up();
    expect(node.get("a")).toBeUndefined();
    expect(node.status().keptReleases).toBe(0);
  });

  test("forgets a kept release when its keys must have run out", async () => {
    const { runtime, node, send } = open();
    node.down();
    await send(release("t", 1_000));
    runtime.block(1_000);
    node.set("a", "t");
    node.up();
    expect(node.get("a")).toBe("t");
  });

  test("a server that comes back empty", async () => {
    const { node, send } = open();
    await send(acquire("t"));
    node.down();
    node.flush();
    node.up();
    expect(await send(extend("t"))).toEqual({ vote: "denied", found: { key: "absent" } });
  });

  test("answers what hangs: the connection is gone", async () => {
    const { node, watch } = open();
    node.freeze();
    const answers = watch(acquire("t"), release("t"));
    node.down();
    await microtasks();
    expect(answers).toEqual(["acquire connection", "release connection"]);
    expect(node.status().keptReleases).toBe(1);
    node.thaw();
    node.up();
    expect(node.keys()).toEqual([]);
  });
});

describe("frozen", () => {
  test("answers nothing, and carries everything out in order once thawed", async () => {
    const { node, watch } = open();
    node.freeze();
    const answers = watch(acquire("t"), acquire("u"), release("t"), acquire("u"));
    await microtasks();
    expect(answers).toEqual([]);
    expect(node.keys()).toEqual([]);
    node.thaw();
    await microtasks();
    expect(answers).toEqual(["acquire granted", "acquire denied", "release granted", "acquire granted"]);
    expect(node.get("a")).toBe("u");
  });

  test("after a command is overdue it votes not-responding at once, and gets no new work", async () => {
    const { runtime, node, watch } = open();
    node.freeze();
    const old = watch(acquire("t"));
    runtime.block(TIMEOUT_MS);
    expect(node.status()).toMatchObject({ state: "not-responding" });
    const young = watch(acquire("u"), release("t"));
    await microtasks();
    expect({ old, young }).toEqual({ old: [], young: ["acquire not-responding", "release not-responding"] });
    node.thaw();
    await microtasks();
    expect(old).toEqual(["acquire granted"]);
    expect(node.keys()).toEqual([]);
    expect(node.status()).toMatchObject({ state: "ready", keptReleases: 0 });
  });

  test("a kept release comes after all that was sent before it", async () => {
    const { runtime, node, watch } = open();
    node.freeze();
    watch(acquire("old", "b"));
    runtime.block(TIMEOUT_MS - 1);
    watch(acquire("t"));
    runtime.block(1);
    watch(release("t"));
    node.thaw();
    await microtasks();
    expect(node.keys()).toEqual(["b"]);
  });
});

describe("slow", () => {
  test("commands are carried out at once and answered later, in order, even when it gets faster meanwhile", async () => {
    const { runtime, node, watch } = open();
    node.slow(300);
    const slow = watch(acquire("t"));
    expect(node.get("a")).toBe("t");
    node.slow(0);
    const fast = watch(extend("t"));
    await runtime.advance(299);
    expect({ slow, fast }).toEqual({ slow: [], fast: [] });
    // The second answer waits for the first, and comes in the same ms or in the next one, as timers go.
    await runtime.advance(2);
    expect({ slow, fast }).toEqual({ slow: ["acquire granted"], fast: ["extend granted"] });
  });

  test("an answer that is overdue makes it not-responding until it arrives", async () => {
    const { runtime, node, watch } = open();
    node.slow(300);
    watch(acquire("t"));
    await runtime.advance(TIMEOUT_MS);
    expect(watch(release("t"))).toEqual([]);
    expect(node.status()).toMatchObject({ state: "not-responding", keptReleases: 1 });
    await runtime.advance(50);
    expect(node.status()).toMatchObject({ state: "ready", keptReleases: 0 });
    expect(node.keys()).toEqual([]);
  });

  test("a connection that breaks meanwhile loses the answer, not the effect", async () => {
    const { runtime, node, watch } = open();
    node.slow(100);
    const answers = watch(acquire("t"));
    node.down();
    await microtasks();
    expect(answers).toEqual(["acquire connection"]);
    expect(node.get("a")).toBe("t");
    expect(runtime.pendingTimers).toBe(0);
  });
});

describe("closed", () => {
  test("answers everything, settles though frozen, and keeps its values for tests to look at", async () => {
    const { node, send, watch } = open();
    await send(acquire("t"));
    node.freeze();
    const answers = watch(extend("t"));
    await node.close();
    expect(answers).toEqual(["extend closed"]);
    expect(await send(release("t"))).toMatchObject({ vote: "unknown", reason: "closed" });
    expect(node.status()).toMatchObject({ state: "closed", keptReleases: 0 });
    expect(node.get("a")).toBe("t");
  });
});

import { describe, expect, test } from "vitest";
import { Redlock } from "../../src/redlock.ts";
import { World } from "../support/world.ts";

/** What a program in JavaScript can pass, though the types forbid it. */
function untyped<T>(value: unknown): T {
  return value as T;
}

async function expectRefusal(
  world: World,
  call: () => Promise<unknown>,
  type: typeof TypeError | typeof RangeError,
  message: string,
): Promise<void> {
  const { error, tookMs } = await world.failed(call);
  expect(error).toBeInstanceOf(type);
  expect((error as Error).message).toContain(message);
  expect(tookMs).toBe(0);
  expect(world.commands).toEqual([]);
  expect(world.runtime.pendingTimers).toBe(0);
}

const RESOURCES = [
  { value: [], type: RangeError, message: "expected at least one resource, got an empty array" },
  { value: "", type: RangeError, message: "expected a name of at least one character, got an empty string" },
  { value: ["a", ""], type: RangeError, message: "expected a name of at least one character, got an empty string" },
  { value: undefined, type: TypeError, message: "got undefined" },
  { value: null, type: TypeError, message: "got null" },
  { value: 7, type: TypeError, message: "got 7 (number)" },
  { value: ["a", 7], type: TypeError, message: "got 7 (number)" },
  { value: [["a"]], type: TypeError, message: "got an array" },
  { value: {}, type: TypeError, message: "got an object (Object)" },
  { value: new Set(["a"]), type: TypeError, message: "got an object (Set)" },
] as const;

const TTLS = [
  { value: 0, type: RangeError, message: "ttlMs: expected a positive whole number of ms, got 0 (number)" },
  { value: -1, type: RangeError, message: "got -1 (number)" },
  { value: 1.5, type: RangeError, message: "got 1.5 (number)" },
  { value: Number.NaN, type: RangeError, message: "got NaN (number)" },
  { value: Number.POSITIVE_INFINITY, type: RangeError, message: "got Infinity (number)" },
  { value: 2 ** 53, type: RangeError, message: "got 9007199254740992 (number)" },
  { value: undefined, type: TypeError, message: "ttlMs: expected a number of ms, got undefined" },
  { value: null, type: TypeError, message: "got null" },
  { value: "5s", type: TypeError, message: 'got "5s" (string)' },
  { value: "1000", type: TypeError, message: 'got "1000" (string)' },
  { value: 1_000n, type: TypeError, message: "got 1000 (bigint)" },
  { value: {}, type: TypeError, message: "got an object (Object)" },
  { value: 1, type: RangeError, message: "expected more than the clock drift allowed for (2.01 ms), got 1 (number)" },
  { value: 2, type: RangeError, message: "expected more than the clock drift allowed for (2.02 ms), got 2 (number)" },
] as const;

const OPTIONS = [
  { value: { waitMs: -1 }, type: RangeError, message: "waitMs: expected a number of at least 0, got -1 (number)" },
  { value: { waitMs: "1s" }, type: TypeError, message: 'waitMs: expected a number, got "1s" (string)' },
  { value: { maxHoldMs: 0 }, type: RangeError, message: "maxHoldMs: expected a number above 0, got 0 (number)" },
  { value: { autoExtend: "yes" }, type: TypeError, message: 'autoExtend: expected a boolean, got "yes" (string)' },
  { value: { signal: {} }, type: TypeError, message: "signal: expected an AbortSignal, got an object (Object)" },
  { value: { retryCount: 3 }, type: TypeError, message: 'unknown option "retryCount"' },
  { value: 5_000, type: TypeError, message: "options: expected an object, got 5000 (number)" },
  { value: null, type: TypeError, message: "options: expected an object, got null" },
] as const;

describe("row 17: programmer errors come before anything is sent", () => {
  const calls = {
    acquire: (redlock: Redlock, resources: unknown, ttlMs: unknown, options?: unknown) =>
      redlock.acquire(untyped(resources), untyped(ttlMs), untyped(options)),
    tryAcquire: (redlock: Redlock, resources: unknown, ttlMs: unknown, options?: unknown) =>
      redlock.tryAcquire(untyped(resources), untyped(ttlMs), untyped(options)),
    using: (redlock: Redlock, resources: unknown, ttlMs: unknown, options?: unknown) =>
      redlock.using(untyped(resources), untyped(ttlMs), untyped(options), () => {}),
  };

  describe.each(Object.entries(calls))("%s", (name, call) => {
    test.each(RESOURCES)("resource $value: $message", async ({ value, type, message }) => {
      const world = new World();
      await expectRefusal(world, () => call(world.redlock, value, 1_000), type, message);
    });

    test.each(TTLS)("ttlMs $value: $message", async ({ value, type, message }) => {
      const world = new World();
      await expectRefusal(world, () => call(world.redlock, "a", value), type, message);
    });

    test.each(OPTIONS)("options $value: $message", async ({ value, type, message }) => {
      const world = new World();
      // One attempt does not wait, so there the option itself is refused.
      if (name === "tryAcquire" && value !== null && Object.hasOwn(Object(value), "waitMs")) {
        const refused = () => call(world.redlock, "a", 1_000, value);
        return expectRefusal(world, refused, TypeError, 'options: unknown option "waitMs"');
      }
      await expectRefusal(world, () => call(world.redlock, "a", 1_000, value), type, message);
    });
  });

  test.each([
    { args: [], message: "routine: expected a function, got undefined" },
    { args: [undefined], message: "routine: expected a function, got undefined" },
    { args: [{ waitMs: 0 }], message: "routine: expected a function, got an object (Object)" },
    { args: [() => {}, {}], message: "routine: expected a function, got an object (Object)" },
    { args: [{}, "routine"], message: 'routine: expected a function, got "routine" (string)' },
  ])("using with $args: $message", async ({ args, message }) => {
    const world = new World();
    const using = world.redlock.using.bind(world.redlock) as (...all: unknown[]) => Promise<unknown>;
    await expectRefusal(world, () => using("a", 1_000, ...args), TypeError, message);
  });

  test.each(RESOURCES.filter(({ value }) => !Array.isArray(value)))("inspect $value: $message", async (bad) => {
    const world = new World();
    await expectRefusal(world, () => world.redlock.inspect(untyped(bad.value)), bad.type, bad.message);
  });

  test.each([[["a"]], [["a", "b"]], [[]]])("inspect %j: one resource, not a list", async (value) => {
    const world = new World();
    const message = "resource: expected a string, got an array";
    await expectRefusal(world, () => world.redlock.inspect(untyped(value)), TypeError, message);
  });

  test.each(TTLS.filter(({ value }) => value !== undefined))("extend by $value: $message", async (bad) => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const sent = world.commands.length;
    const { error } = await world.failed(() => lock.extend(untyped(bad.value)));
    expect(error).toBeInstanceOf(bad.type);
    expect((error as Error).message).toContain(bad.message);
    expect(world.commands.length).toBe(sent);
    expect(lock.isHeld()).toBe(true);
  });

  test("extend with a signal that is none", async () => {
    const world = new World();
    const lock = await world.run(world.redlock.acquire("a", 1_000));
    const { error } = await world.failed(() => lock.extend(1_000, { signal: untyped({}) }));
    expect(error).toEqual(new TypeError("signal: expected an AbortSignal, got an object (Object)"));
    expect(world.relays[0]?.commands("extend")).toEqual([]);
  });
});

describe("the constructor", () => {
  test.each([
    { nodes: [], type: RangeError, message: "nodes: expected at least one node, got an empty array" },
    { nodes: undefined, type: TypeError, message: "nodes: expected an array" },
    { nodes: "redis://a:6379", type: TypeError, message: "nodes: expected an array" },
    { nodes: [7], type: TypeError, message: "nodes[0]: expected a URL" },
    { nodes: [{ name: "x" }], type: TypeError, message: "got an object (Object)" },
  ])("refuses $nodes: $message", ({ nodes, type, message }) => {
    const make = () => new Redlock(untyped(nodes));
    expect(make).toThrow(type);
    expect(make).toThrow(message);
  });

  test("refuses one LockNode twice: it would vote twice", () => {
    const { memory, runtime } = new World();
    const [node] = memory;
    expect(() => new Redlock([...memory, untyped(node)], {}, runtime)).toThrow(
      new RangeError("nodes: the same LockNode is listed twice: it would vote twice"),
    );
  });

  test.each([
    { options: { nodeTimeoutMs: 0 }, message: "nodeTimeoutMs: expected a finite number above 0, got 0 (number)" },
    { options: { driftFactor: 1 }, message: "driftFactor: expected a finite number of at least 0 and below 1" },
    { options: { quorum: 1 }, message: 'unknown option "quorum"' },
    { options: { backoff: { minMs: 10, maxMs: 5 } }, message: "backoff.maxMs" },
    { options: 5, message: "options: expected an object, got 5 (number)" },
  ])("refuses options $options", ({ options, message }) => {
    const { memory, runtime } = new World();
    expect(() => new Redlock(memory, untyped(options), runtime)).toThrow(message);
  });
});

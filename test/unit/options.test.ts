import { describe, expect, test } from "vitest";
import {
  DEFAULTS,
  requireTtl,
  resolveAcquireOptions,
  resolveOptions,
  resolveResources,
  show,
} from "../../src/options.ts";

/** JavaScript callers pass what TypeScript would refuse. */
const untyped = <T>(value: unknown): T => value as T;

describe("resources", () => {
  test.each([
    [[], RangeError, "resources: expected at least one resource, got an empty array"],
    ["", RangeError, "resource: expected a name of at least one character, got an empty string"],
    [["a", ""], RangeError, "resource: expected a name of at least one character, got an empty string"],
    [undefined, TypeError, "resource: expected a string, got undefined"],
    [null, TypeError, "resource: expected a string, got null"],
    [42, TypeError, "resource: expected a string, got 42 (number)"],
    [["a", 7n], TypeError, "resource: expected a string, got 7 (bigint)"],
    [[["a"]], TypeError, "resource: expected a string, got an array"],
    [new Set(["a"]), TypeError, "resource: expected a string, got an object (Set)"],
    [Buffer.from("a"), TypeError, "resource: expected a string, got an object (Buffer)"],
  ])("%s: %O with the message %s", (resources, type, message) => {
    expect(() => resolveResources(untyped(resources))).toThrow(new type(message));
  });

  test("one is a list of one; duplicates are one, in the order of the call", () => {
    expect(resolveResources("a")).toEqual(["a"]);
    expect(resolveResources(["b", "a", "b", "a"])).toEqual(["b", "a"]);
  });

  test("the caller's array is copied: changing it later changes no lock", () => {
    const resources = ["a"];
    const resolved = resolveResources(resources);
    resources.push("b");
    expect(resolved).toEqual(["a"]);
  });
});

describe("ttlMs", () => {
  const WHOLE = "ttlMs: expected a positive whole number of ms, got";

  test.each([
    [0, RangeError, `${WHOLE} 0 (number)`],
    [-1, RangeError, `${WHOLE} -1 (number)`],
    [1.5, RangeError, `${WHOLE} 1.5 (number)`],
    [Number.NaN, RangeError, `${WHOLE} NaN (number)`],
    [Number.POSITIVE_INFINITY, RangeError, `${WHOLE} Infinity (number)`],
    [2 ** 53, RangeError, `${WHOLE} 9007199254740992 (number)`],
    [undefined, TypeError, "ttlMs: expected a number of ms, got undefined"],
    ["5s", TypeError, 'ttlMs: expected a number of ms, got "5s" (string)'],
    ["5000", TypeError, 'ttlMs: expected a number of ms, got "5000" (string)'],
    [5n, TypeError, "ttlMs: expected a number of ms, got 5 (bigint)"],
    [2, RangeError, "ttlMs: expected more than the clock drift allowed for (2.02 ms), got 2 (number)"],
  ])("%s is refused with %O: %s", (ttlMs, type, message) => {
    expect(() => requireTtl(untyped(ttlMs), DEFAULTS.driftFactor)).toThrow(new type(message));
  });

  test.each([3, 1_000, 604_800_000, Number.MAX_SAFE_INTEGER])("%i is accepted: there is no cap", (ttlMs) => {
    expect(() => requireTtl(ttlMs, DEFAULTS.driftFactor)).not.toThrow();
  });
});

describe("options of a Redlock", () => {
  test("have defaults, one by one", () => {
    const { nodeTimeoutMs, driftFactor, backoff } = DEFAULTS;
    expect(resolveOptions()).toEqual({ nodeTimeoutMs, driftFactor, backoff });
    expect(resolveOptions({ backoff: { minMs: 5, maxMs: 50 } })).toMatchObject({ backoff: { minMs: 5, maxMs: 50 } });
    expect(resolveOptions({ backoff: { maxMs: 50 } })).toMatchObject({ backoff: { minMs: 10, maxMs: 50 } });
  });

  test.each([
    [{ nodeTimeoutMs: 0 }, RangeError, "nodeTimeoutMs: expected a finite number above 0, got 0 (number)"],
    [{ nodeTimeoutMs: Number.POSITIVE_INFINITY }, RangeError, "nodeTimeoutMs: expected a finite number above 0, got"],
    [{ nodeTimeoutMs: "250" }, TypeError, 'nodeTimeoutMs: expected a number, got "250" (string)'],
    [{ driftFactor: -0.1 }, RangeError, "driftFactor: expected a finite number of at least 0 and below 1, got -0.1"],
    [{ driftFactor: 1 }, RangeError, "driftFactor: expected a finite number of at least 0 and below 1, got 1"],
    [{ driftFactor: Number.NaN }, RangeError, "driftFactor: expected a finite number"],
    [{ backoff: { minMs: -1, maxMs: 5 } }, RangeError, "backoff.minMs: expected a finite number above 0, got -1"],
    [{ backoff: { minMs: 10, maxMs: 5 } }, RangeError, "backoff.maxMs: expected a finite number of at least 10"],
    [{ backoff: { minMs: 0, maxMs: 9 } }, RangeError, "backoff.minMs: expected a finite number above 0"],
    [{ backoff: null }, TypeError, "backoff: expected an object, got null"],
    [{ backoff: { min: 1 } }, TypeError, 'backoff: unknown option "min"; known are minMs, maxMs'],
    [
      { retryCount: 3 },
      TypeError,
      'options: unknown option "retryCount"; known are nodeTimeoutMs, driftFactor, backoff',
    ],
    [null, TypeError, "options: expected an object, got null"],
    [250, TypeError, "options: expected an object, got 250 (number)"],
    [[], TypeError, "options: expected an object, got an array"],
  ])("%j is refused with %O: %s", (options, type, message) => {
    const resolve = () => resolveOptions(untyped(options));
    expect(resolve).toThrow(type);
    expect(resolve).toThrow(message);
  });
});

describe("options of an acquisition", () => {
  test("have defaults, and `using` has its own", () => {
    expect(resolveAcquireOptions()).toMatchObject({ waitMs: 10_000, autoExtend: false, maxHoldMs: Infinity });
    expect(resolveAcquireOptions({}, true)).toMatchObject({ autoExtend: true });
    expect(resolveAcquireOptions({ autoExtend: false }, true)).toMatchObject({ autoExtend: false });
    expect(resolveAcquireOptions({ waitMs: Infinity })).toMatchObject({ waitMs: Infinity });
    expect(resolveAcquireOptions({ waitMs: 0 })).toMatchObject({ waitMs: 0 });
  });

  test.each([
    [{ waitMs: -1 }, RangeError, "waitMs: expected a number of at least 0, got -1 (number)"],
    [{ waitMs: Number.NaN }, RangeError, "waitMs: expected a number of at least 0, got NaN (number)"],
    [{ waitMs: "1s" }, TypeError, 'waitMs: expected a number, got "1s" (string)'],
    [{ maxHoldMs: 0 }, RangeError, "maxHoldMs: expected a number above 0, got 0 (number)"],
    [{ autoExtend: 1 }, TypeError, "autoExtend: expected a boolean, got 1 (number)"],
    [{ signal: new AbortController() }, TypeError, "signal: expected an AbortSignal, got an object (AbortController)"],
    [{ timeout: 5 }, TypeError, 'options: unknown option "timeout"; known are'],
  ])("%j is refused with %O: %s", (options, type, message) => {
    const resolve = () => resolveAcquireOptions(untyped(options));
    expect(resolve).toThrow(type);
    expect(resolve).toThrow(message);
  });
});

test.each([
  ["a", '"a" (string)'],
  [undefined, "undefined"],
  [null, "null"],
  [true, "true (boolean)"],
  [Symbol("s"), "Symbol(s) (symbol)"],
  [[1], "an array"],
  [{}, "an object (Object)"],
  [Object.create(null), "an object (no prototype)"],
  [function named() {}, "a function (named)"],
  [() => {}, "a function (anonymous)"],
])("a wrong argument is shown with its type: case %#", (value, text) => {
  expect(show(value)).toBe(text);
});

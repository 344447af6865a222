import { afterAll, describe, expect, test, vi } from "vitest";
import type * as Errors from "../../src/errors.ts";
import {
  ClosedError,
  LockHeldError,
  LockLostError,
  LockReleasedError,
  QuorumUnreachableError,
  RedlockError,
} from "../../src/errors.ts";
import type { NodeVote } from "../../src/node.ts";

const votes: readonly NodeVote[] = [
  { vote: "unknown", reason: "timeout", message: "timed out", name: "node-0", elapsedMs: 250 },
];
const resources = ["a"];

describe.each([
  { error: new LockHeldError("held", { resources, votes, waitedMs: 5, attempts: 2 }), code: "ERR_LOCK_HELD" },
  { error: new QuorumUnreachableError("far", { resources, votes }), code: "ERR_QUORUM_UNREACHABLE" },
  { error: new LockLostError("lost", { resources, votes }), code: "ERR_LOCK_LOST" },
  { error: new LockReleasedError(resources), code: "ERR_LOCK_RELEASED" },
  { error: new ClosedError(resources), code: "ERR_CLOSED" },
])("$code", ({ error, code }) => {
  test("has a stable code, its class's name, and its resources", () => {
    expect(error).toMatchObject({ code, name: error.constructor.name, resources });
    expect(error).toBeInstanceOf(RedlockError);
    expect(error).toBeInstanceOf(Error);
    expect(RedlockError.is(error)).toBe(true);
  });

  test("shows code and message in its stack and in a log, and no brand", () => {
    expect(error.stack).toContain(error.message);
    expect(Object.keys(error)).not.toContain("brand");
    expect(
      Object.getOwnPropertySymbols(error).filter((symbol) => Object.propertyIsEnumerable.call(error, symbol)),
    ).toEqual([]);
  });
});

describe("RedlockError.is", () => {
  let copy: typeof Errors;
  afterAll(() => vi.resetModules());

  test("knows errors of another copy of the module, as of ESM beside CommonJS", async () => {
    vi.resetModules();
    copy = await import("../../src/errors.ts");
    const error = new copy.ClosedError();
    expect(error).not.toBeInstanceOf(ClosedError);
    expect(RedlockError.is(error)).toBe(true);
    expect(copy.RedlockError.is(new ClosedError())).toBe(true);
  });

  test.each([undefined, null, "ERR_CLOSED", 7, {}, new Error("x"), { code: "ERR_CLOSED" }, () => {}])(
    "does not know %s",
    (value) => {
      expect(RedlockError.is(value)).toBe(false);
    },
  );
});

test("what a node could not tell is missing, not undefined", () => {
  const error = new LockHeldError("held", { resources, waitedMs: 5, attempts: 2, freeInMs: undefined });
  expect("freeInMs" in error).toBe(false);
  expect(error).toMatchObject({ waitedMs: 5, attempts: 2, votes: [] });
  expect(new LockHeldError("held", { resources, waitedMs: 5, attempts: 2, freeInMs: 9 }).freeInMs).toBe(9);
});

test("a cause is kept, and none is made up", () => {
  const cause = new Error("root");
  expect(new QuorumUnreachableError("far", { resources, cause }).cause).toBe(cause);
  expect("cause" in new QuorumUnreachableError("far", { resources })).toBe(false);
});

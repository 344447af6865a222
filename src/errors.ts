import { quote } from "./messages.js";
import type { NodeVote } from "./node.js";

/** Every code an error of this library can carry. */
export type RedlockErrorCode =
  | "ERR_LOCK_HELD"
  | "ERR_QUORUM_UNREACHABLE"
  | "ERR_LOCK_LOST"
  | "ERR_LOCK_RELEASED"
  | "ERR_CLOSED";

/** Shared by every copy of this module in one process: an ESM and a CommonJS copy have different classes. */
const BRAND = Symbol.for("redlock-quorum.error");

interface Details {
  readonly resources: readonly string[];
  readonly votes?: readonly NodeVote[];
  readonly cause?: unknown;
}

/** What all errors of this library have in common. Programmer errors are `TypeError` and `RangeError` instead. */
export abstract class RedlockError extends Error {
  /** Stable: made to be compared. */
  abstract readonly code: RedlockErrorCode;
  readonly resources: readonly string[];
  /** What each node answered; empty where no node was asked. */
  readonly votes: readonly NodeVote[];

  constructor(message: string, { resources, votes = [], cause }: Details) {
    super(message, cause === undefined ? undefined : { cause });
    this.resources = resources;
    this.votes = votes;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for errors of this library, whichever copy of it (ESM or CommonJS) made them. */
  static is(error: unknown): error is AnyRedlockError {
    return typeof error === "object" && error !== null && BRAND in error;
  }
}

/** Any of the errors below: `error.code` tells which, and TypeScript follows. */
export type AnyRedlockError = LockHeldError | QuorumUnreachableError | LockLostError | LockReleasedError | ClosedError;

/** Another owner holds the resource, or a part of the quorum's nodes. */
export class LockHeldError extends RedlockError {
  override readonly name = "LockHeldError";
  readonly code = "ERR_LOCK_HELD";
  /** From the call to this error, ms. */
  readonly waitedMs: number;
  readonly attempts: number;
  /** When the holder's keys run out unless it extends them, ms. Missing where the nodes could not tell. */
  declare readonly freeInMs?: number;

  constructor(
    message: string,
    details: Details & { waitedMs: number; attempts: number; freeInMs?: number | undefined },
  ) {
    super(message, details);
    this.waitedMs = details.waitedMs;
    this.attempts = details.attempts;
    if (details.freeInMs !== undefined) this.freeInMs = details.freeInMs;
  }
}

/** Fewer nodes than a quorum gave a trustworthy answer. `votes` tells which did not, and why. */
export class QuorumUnreachableError extends RedlockError {
  override readonly name = "QuorumUnreachableError";
  readonly code = "ERR_QUORUM_UNREACHABLE";
}

/** The lock is not held any more, though it was not released. Also the reason of its aborted `signal`. */
export class LockLostError extends RedlockError {
  override readonly name = "LockLostError";
  readonly code = "ERR_LOCK_LOST";
}

/** The lock was released by this handle. */
export class LockReleasedError extends RedlockError {
  override readonly name = "LockReleasedError";
  readonly code = "ERR_LOCK_RELEASED";

  constructor(resources: readonly string[]) {
    super(`${quote(resources)}: this lock has been released`, { resources });
  }
}

/** `close()` was called on the Redlock. */
export class ClosedError extends RedlockError {
  override readonly name = "ClosedError";
  readonly code = "ERR_CLOSED";

  constructor(resources: readonly string[] = []) {
    const subject = resources.length === 0 ? "" : `${quote(resources)}: `;
    super(`${subject}this Redlock has been closed`, { resources });
  }
}

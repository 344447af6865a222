import type { NodeVote } from "./node.js";

/** A lock that was granted. It ends once, by release or by loss, and never comes back. */
export interface Lock extends AsyncDisposable {
  /** What it protects, without duplicates. */
  readonly resources: readonly string[];
  /** The owner value that its keys hold on the nodes. */
  readonly token: string;
  /**
   * Aborts when the lock is lost, with a LockLostError as its reason, by the end of its validity at the latest (after a stall of
   * the event loop: in the first timer turn; after the machine was suspended: within a second). A release does not abort it; the
   * Redlock's `close()` does, with a ClosedError. Created when first asked for.
   */
  readonly signal: AbortSignal;
  /** True while it is held: compares the clock at each call, so it is right in the first statement after a stall. */
  isHeld(): boolean;
  /** What is left of the validity, ms; 0 once the lock has ended. */
  remainingMs(): number;
  /** @throws LockLostError or LockReleasedError when the lock is not held any more */
  throwIfLost(): void;
  /** When the validity ends, by this process's wall clock: for display, not for decisions. */
  readonly validUntil: Date;
  /**
   * Prolongs the lock, by one round on the nodes. Never shortens what is held, not even when it fails.
   *
   * @param ttlMs time to live from now on, ms; default: that of the acquisition
   * @throws QuorumUnreachableError the round stayed undecided; the lock is still held for what was left
   * @throws LockLostError, LockReleasedError it has ended
   */
  extend(ttlMs?: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Ends the lock at once, here, and deletes its keys on all nodes. Resolves when a quorum has answered, or at the node timeout;
   * never rejects. Every call returns the same promise.
   */
  release(): Promise<ReleaseResult>;
}

/**
 * - `released`: a quorum confirmed that no key of this lock is left.
 * - `expired`: the lock had ended before; there was nothing to release.
 * - `unconfirmed`: too few nodes answered. The others are told as soon as they are back; what cannot be told ends with its ttl.
 */
export interface ReleaseResult {
  readonly status: "released" | "expired" | "unconfirmed";
  /** What each node answered; empty when the lock had ended before. */
  readonly votes: readonly NodeVote[];
}

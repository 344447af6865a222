import { acquisition, type Lost } from "./acquisition.js";
import { Admission } from "./admission.js";
import { withAgenda } from "./agenda.js";
import { Cleanup } from "./cleanup.js";
import { quorumOf } from "./core/tally.js";
import { traceAcquire } from "./diagnostics.js";
import { ClosedError, LockHeldError, LockReleasedError, QuorumUnreachableError } from "./errors.js";
import type { Estate, HeldLock } from "./held-lock.js";
import { HeldLocks } from "./held-locks.js";
import { type Inspection, inspectionOf } from "./inspection.js";
import type { Lock } from "./lock.js";
import { describeVotes } from "./messages.js";
import type { LockNode, NodeStatus } from "./node.js";
import { type NodeInput, openNodes } from "./nodes/input.js";
import {
  type AcquireOptions,
  type HoldOptions,
  type RedlockOptions,
  type ResolvedAcquireOptions,
  type ResolvedOptions,
  requireTtl,
  resolveAcquireOptions,
  resolveAttemptOptions,
  resolveOptions,
  resolveResources,
  show,
} from "./options.js";
import { Patience } from "./patience.js";
import { Round } from "./round.js";
import { type Runtime, systemRuntime } from "./runtime.js";

/** With more, an attempt's time would pass in this process; with fewer, the nodes would wait. */
const MAX_ATTEMPTS = 256;

export type Routine<T> = (signal: AbortSignal, lock: Lock) => Promise<T> | T;

/**
 * Locks over a quorum of independent Redis or Valkey masters.
 *
 * @see https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
 */
export class Redlock implements AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #estate: Estate;
  readonly #ownNodes: readonly LockNode[];
  readonly #callers = new Map<Patience, readonly string[]>();
  readonly #locks: HeldLocks;
  #closing: Promise<void> | undefined;

  /**
   * @param nodes one entry for each independent master (or for each Cluster or Sentinel-managed master, used as one voter)
   * @param machine clocks, timers and chance: for tests in virtual time
   * @throws TypeError, RangeError for input that cannot work, before anything is connected
   */
  constructor(nodes: readonly NodeInput[], options?: RedlockOptions, machine: Runtime = systemRuntime) {
    this.#options = resolveOptions(options);
    const runtime = withAgenda(machine);
    const { nodeTimeoutMs, driftFactor } = this.#options;
    const opened = openNodes(nodes, { nodeTimeoutMs, runtime });
    this.#ownNodes = opened.own;
    const quorum = { nodes: opened.all, size: quorumOf(opened.all.length), driftFactor, runtime };
    this.#locks = new HeldLocks(runtime);
    const cleanup = new Cleanup(quorum, nodeTimeoutMs);
    const admission = new Admission(MAX_ATTEMPTS);
    this.#estate = { quorum, nodeTimeoutMs, cleanup, admission, onEnd: (lock) => this.#locks.delete(lock) };
  }

  /** How each node does now, in the order given. */
  get nodes(): readonly NodeStatus[] {
    return this.#estate.quorum.nodes.map((node) => node.status());
  }

  /**
   * Waits until the resource, or all of the resources, are granted.
   *
   * @param ttlMs how long the lock lives unless it is extended, ms; counted from the attempt that won
   * @throws LockHeldError when another owner held it for all of `waitMs`
   * @throws QuorumUnreachableError when too few nodes answered
   * @throws ClosedError when the Redlock is or gets closed
   * @throws the abort signal's own reason
   */
  async acquire(resources: string | readonly string[], ttlMs: number, options?: AcquireOptions): Promise<Lock> {
    return this.#acquire(resources, ttlMs, resolveAcquireOptions(options));
  }

  /**
   * One attempt, without waiting.
   *
   * @returns null when another owner holds the resource
   * @throws like `acquire`, but LockHeldError only where the name is a data key, which no waiting would free
   */
  async tryAcquire(resources: string | readonly string[], ttlMs: number, options?: HoldOptions): Promise<Lock | null> {
    return await this.#pursue(resources, ttlMs, resolveAttemptOptions(options), (lost) => {
      if (lost.why === "held") return null;
      throw this.#errorOf(lost);
    });
  }

  /**
   * Runs the routine while the lock is held: extends it by itself, releases it once the routine has settled.
   *
   * @param routine gets a signal that aborts when the lock is lost, and the lock
   * @returns what the routine returned
   * @throws the routine's own error, always; otherwise LockLostError when the lock was lost before the routine had returned, or
   *   like `acquire`
   */
  using<T>(resources: string | readonly string[], ttlMs: number, routine: Routine<T>): Promise<T>;
  using<T>(
    resources: string | readonly string[],
    ttlMs: number,
    options: AcquireOptions,
    routine: Routine<T>,
  ): Promise<T>;
  async using<T>(
    resources: string | readonly string[],
    ttlMs: number,
    ...rest: [Routine<T>] | [AcquireOptions, Routine<T>]
  ): Promise<T> {
    const [options, routine] = rest.length === 1 ? [undefined, rest[0]] : rest;
    requireRoutine(routine);
    const lock = await this.#acquire(resources, ttlMs, resolveAcquireOptions(options, true));
    try {
      const result = await routine(lock.signal, lock);
      throwIfEndedByOthers(lock);
      return result;
    } finally {
      await lock.release();
    }
  }

  /** What each node holds under the resource now: free, ours, another's, or something that is not a lock. */
  async inspect(resource: string): Promise<Inspection> {
    if (typeof resource !== "string") throw new TypeError(`resource: expected a string, got ${show(resource)}`);
    const keys = resolveResources(resource);
    if (this.#closing !== undefined) throw new ClosedError(keys);
    const { quorum, nodeTimeoutMs } = this.#estate;
    const round = new Round(quorum, { kind: "inspect", keys }, { timeoutMs: nodeTimeoutMs });
    await round.complete;
    const ourTokens = new Set([...this.#locks].map(({ token }) => token));
    return inspectionOf(resource, round.votes(), ourTokens, quorum.size);
  }

  /**
   * Ends everything: waiting and new calls reject with ClosedError, held locks are released and their signals abort with
   * ClosedError, connections that this Redlock opened are closed. Settles within a node timeout, also when nodes hang. Clients that were passed in stay open.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    for (const [caller, resources] of this.#callers) caller.cancel(new ClosedError(resources));
    for (const lock of this.#locks) lock.shutDown(new ClosedError(lock.resources));
    // One turn, so that the cancelled callers have sent their clean-up, which the next line waits for.
    await new Promise<void>((resolve) => this.#estate.quorum.runtime.afterArrivals(resolve));
    await this.#estate.cleanup.idle();
    await Promise.all(this.#ownNodes.map((node) => node.close()));
  }

  async #acquire(
    resources: string | readonly string[],
    ttlMs: number,
    options: ResolvedAcquireOptions,
  ): Promise<HeldLock> {
    return await this.#pursue(resources, ttlMs, options, (lost) => {
      throw this.#errorOf(lost);
    });
  }

  async #pursue<Otherwise>(
    names: string | readonly string[],
    ttlMs: number,
    options: ResolvedAcquireOptions,
    onLost: (lost: Lost) => Otherwise,
  ): Promise<HeldLock | Otherwise> {
    const resources = resolveResources(names);
    const { quorum } = this.#estate;
    requireTtl(ttlMs, quorum.driftFactor);
    for (const node of quorum.nodes) {
      const objection = node.objection?.(resources);
      if (objection !== undefined) throw new RangeError(`${node.name}: ${objection}`);
    }
    if (this.#closing !== undefined) throw new ClosedError(resources);
    return await traceAcquire(
      async () => {
        const outcome = await this.#patiently(resources, ttlMs, options);
        return "why" in outcome ? onLost(outcome) : outcome;
      },
      () => ({ resources, ttlMs }),
    );
  }

  async #patiently(
    resources: readonly string[],
    ttlMs: number,
    { signal, ...wish }: ResolvedAcquireOptions,
  ): Promise<HeldLock | Lost> {
    const patience = new Patience(this.#estate.quorum.runtime, wish.waitMs, signal);
    this.#callers.set(patience, resources);
    try {
      const { backoff } = this.#options;
      const outcome = await acquisition(this.#estate, { ...wish, resources, ttlMs, backoff }, patience);
      if ("why" in outcome) return outcome;
      // Aborted or closed in the last moment: nobody may be listening any more who would release it.
      if (patience.isCancelled) void outcome.release();
      patience.throwIfCancelled();
      this.#locks.add(outcome);
      return outcome;
    } finally {
      this.#callers.delete(patience);
      patience.end();
    }
  }

  #errorOf({ why, resources, votes, freeInMs, attempts, waitedMs }: Lost): LockHeldError | QuorumUnreachableError {
    const message = describeVotes(resources, votes, this.#estate.quorum.size, freeInMs);
    if (why === "unreachable") return new QuorumUnreachableError(message, { resources, votes });
    const isOwn = [...this.#locks].some(
      (lock) => lock.isHeld() && lock.resources.some((name) => resources.includes(name)),
    );
    const hint = isOwn ? "; the holder is this very process" : "";
    return new LockHeldError(message + hint, { resources, votes, waitedMs, attempts, freeInMs });
  }
}

function requireRoutine(routine: unknown): void {
  if (typeof routine !== "function") throw new TypeError(`routine: expected a function, got ${show(routine)}`);
}

/** A result that was made while nobody was excluded is no result; a release by the routine itself is its own business. */
function throwIfEndedByOthers(lock: Lock): void {
  try {
    lock.throwIfLost();
  } catch (error) {
    if (!(error instanceof LockReleasedError)) throw error;
  }
}

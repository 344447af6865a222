import type { Cleanup } from "./cleanup.js";
import { Electorate } from "./core/electorate.js";
import { driftMs } from "./core/validity.js";
import { Deadline } from "./deadline.js";
import { publishBackground, publishLoss, traceExtend, traceRelease } from "./diagnostics.js";
import { type ClosedError, LockLostError, LockReleasedError, QuorumUnreachableError } from "./errors.js";
import { Keeper } from "./keeper.js";
import { describeVotes, quote } from "./messages.js";
import type { NodeVote, Vote } from "./node.js";
import { requireSignal, requireTtl } from "./options.js";
import { abortable } from "./patience.js";
import { ask, type Quorum, Round } from "./round.js";
import { Stopwatch } from "./runtime.js";

/** The last moment that a `Date` can tell, in the year 275760; the longest ttl ends later. */
const MAX_DATE_MS = 8.64e15;

/** A lock that was granted. It ends once, by release or by loss, and never comes back. */
export interface Lock extends AsyncDisposable {
  /** What it protects, without duplicates. */
  readonly resources: readonly string[];
  /** The owner value that its keys hold on the nodes. */
  readonly token: string;
  /**
   * Aborts when the lock is lost, by the end of its validity at the latest (after a stall of the event loop: in the first timer
   * turn), with a {@link LockLostError} as its reason. A release does not abort it. Created when first asked for.
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

/** A won acquire round, and what was asked for. */
export interface Grant {
  readonly resources: readonly string[];
  readonly token: string;
  readonly ttlMs: number;
  readonly round: Round;
  readonly autoExtend: boolean;
  readonly maxHoldMs: number;
}

/** What locks need from the Redlock that they belong to. */
export interface Estate {
  readonly quorum: Quorum;
  readonly nodeTimeoutMs: number;
  readonly cleanup: Cleanup;
  onEnd(lock: HeldLock): void;
}

type State =
  | { readonly is: "held" }
  | { readonly is: "lost"; readonly error: LockLostError }
  | { readonly is: "released"; readonly error: ReleaseReason };

/** By the holder, or by `close()`. */
type ReleaseReason = LockReleasedError | ClosedError;

export class HeldLock implements Lock {
  readonly resources: readonly string[];
  readonly token: string;
  readonly #ttlMs: number;
  readonly #estate: Estate;
  readonly #electorate: Electorate;
  readonly #deadline: Deadline;
  readonly #keeper: Keeper | undefined;
  readonly #held: Stopwatch;
  readonly #maxHoldMs: number;
  /** Repairs that have not been answered, by node. */
  readonly #repairing = new Map<number, Stopwatch>();
  #state: State = { is: "held" };
  #controller: AbortController | undefined;
  #released: Promise<ReleaseResult> | undefined;
  #longestTtlMs: number;
  /** The validity: so long, counted by that stopwatch. */
  #validity: { readonly ms: number; readonly stopwatch: Stopwatch };

  constructor(estate: Estate, { resources, token, ttlMs, round, autoExtend, maxHoldMs }: Grant) {
    const { quorum } = estate;
    this.#estate = estate;
    this.resources = resources;
    this.token = token;
    this.#ttlMs = ttlMs;
    this.#longestTtlMs = ttlMs;
    this.#maxHoldMs = maxHoldMs;
    this.#held = new Stopwatch(quorum.runtime);
    this.#validity = this.#validityOf(ttlMs, round);
    this.#electorate = new Electorate(quorum.nodes.length, quorum.size);
    for (const [node, answer] of round.votes().entries()) this.acquireAnswered(node, answer);
    this.#deadline = new Deadline(
      quorum.runtime,
      () => this.#leftMs(),
      () => this.#expire(),
    );
    if (autoExtend) this.#keeper = new Keeper(quorum.runtime, ttlMs, () => this.#extend(ttlMs));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#state.is !== "held" && this.#state.error.code !== "ERR_LOCK_RELEASED") {
        this.#controller.abort(this.#state.error);
      }
    }
    return this.#controller.signal;
  }

  isHeld(): boolean {
    return this.#state.is === "held" && this.#leftMs() > 0;
  }

  remainingMs(): number {
    return this.#state.is === "held" ? Math.max(0, this.#leftMs()) : 0;
  }

  throwIfLost(): void {
    if (this.#state.is === "held" && this.#leftMs() <= 0) this.#expire();
    if (this.#state.is !== "held") throw this.#state.error;
  }

  get validUntil(): Date {
    return new Date(Math.min(this.#estate.quorum.runtime.wallMs() + this.remainingMs(), MAX_DATE_MS));
  }

  async extend(ttlMs = this.#ttlMs, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    requireTtl(ttlMs, this.#estate.quorum.driftFactor);
    requireSignal(signal);
    signal?.throwIfAborted();
    // A round that its caller has given up is heard to its end: what it won is held.
    await abortable(this.#extend(ttlMs), signal);
  }

  release(): Promise<ReleaseResult> {
    return this.#releaseOnce(() => new LockReleasedError(this.resources));
  }

  /** A release that the holder did not ask for: so its signal aborts. */
  shutDown(reason: ClosedError): void {
    const wasHeld = this.isHeld();
    void this.#releaseOnce(() => reason);
    if (wasHeld) this.#controller?.abort(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Hears the answers to the acquire, those that came after it was won too. */
  acquireAnswered(node: number, { vote }: Vote): void {
    if (vote !== "unknown") this.#electorate.acquireAnswered(node, vote === "granted");
  }

  #releaseOnce(reason: () => ReleaseReason): Promise<ReleaseResult> {
    this.#released ??= traceRelease(
      () => this.#release(reason()),
      () => ({ resources: this.resources }),
    );
    return this.#released;
  }

  async #release(reason: ReleaseReason): Promise<ReleaseResult> {
    if (this.#state.is === "held" && this.#leftMs() <= 0) this.#expire();
    if (this.#state.is === "lost") return { status: "expired", votes: [] };
    const { voters } = this.#electorate.openRound();
    const { verdict, votes } = await this.#end({ is: "released", error: reason }).settled;
    if (verdict !== "won") return { status: "unconfirmed", votes };
    // As in an extension: the lock had been lost unnoticed when the voters that held its key, or are silent, are no quorum.
    const gone = votes.filter((vote, node) => voters.has(node) && vote.vote === "granted" && vote.found.key !== "ours");
    return { status: voters.size - gone.length >= this.#estate.quorum.size ? "released" : "expired", votes };
  }

  #extend(ttlMs: number): Promise<void> {
    return traceExtend(
      () => this.#extendRound(ttlMs),
      () => ({ resources: this.resources, ttlMs }),
    );
  }

  async #extendRound(ttlMs: number): Promise<void> {
    this.throwIfLost();
    const { quorum } = this.#estate;
    this.#longestTtlMs = Math.max(this.#longestTtlMs, ttlMs);
    const { round: ordinal, voters } = this.#electorate.openRound();
    const round: Round = new Round(
      quorum,
      { kind: "extend", keys: this.resources, token: this.token, ttlMs },
      {
        timeoutMs: this.#timeoutMs(ttlMs),
        voters,
        onVote: (node, vote) => this.#extendAnswered(node, vote, ordinal, round, ttlMs),
      },
    );
    const { verdict, votes } = await round.settled;
    this.throwIfLost();
    if (verdict !== "won") {
      const { resources } = this;
      const message = describeVotes(resources, votes, quorum.size, undefined, voters);
      throw new QuorumUnreachableError(message, { resources, votes });
    }
    const validity = this.#validityOf(ttlMs, round);
    if (validity.ms - validity.stopwatch.elapsedMs() > this.#validityLeftMs()) this.#validity = validity;
    for (const [node, vote] of round.votes().entries()) this.#extendAnswered(node, vote, ordinal, round, ttlMs);
  }

  #extendAnswered(node: number, vote: Vote, ordinal: number, round: Round, ttlMs: number): void {
    if (this.#state.is !== "held") return;
    const isWon = round.verdict === "won";
    if (vote.vote === "granted") this.#electorate.extendGranted(node, ordinal, isWon);
    if (vote.vote !== "denied") return;
    this.#electorate.extendDenied(node);
    if (this.#electorate.isLost) this.#lose("its keys are gone", round);
    else if (isWon && vote.found.key === "absent" && this.#electorate.mayRepair(node)) void this.#repair(node, ttlMs);
  }

  /** Sets the key again on a node that lost it: for availability only, the node does not count for that. */
  async #repair(node: number, ttlMs: number): Promise<void> {
    const lockNode = this.#estate.quorum.nodes[node];
    const timeoutMs = this.#timeoutMs(ttlMs);
    const underWay = this.#repairing.get(node);
    if (lockNode === undefined || (underWay !== undefined && underWay.elapsedMs() < timeoutMs)) return;
    const stopwatch = new Stopwatch(this.#estate.quorum.runtime);
    this.#repairing.set(node, stopwatch);
    const vote = await ask(lockNode, { kind: "repair", keys: this.resources, token: this.token, ttlMs }, timeoutMs);
    if (this.#repairing.get(node) === stopwatch) this.#repairing.delete(node);
    if (this.#state.is !== "held") return;
    if (vote.vote === "granted") {
      this.#electorate.repaired(node);
      this.#keeper?.hasten();
    } else publishBackground(() => ({ resources: this.resources, command: "repair", node: lockNode.name, vote }));
  }

  #expire(): void {
    const isOverHeld = this.#validityLeftMs() > this.#holdLeftMs();
    this.#lose(
      isOverHeld ? `held for the longest time allowed (maxHoldMs ${this.#maxHoldMs})` : "its validity has ended",
    );
  }

  /** Final: a late answer does not bring a lost lock back, and its keys are deleted wherever they may be left. */
  #lose(why: string, round?: Round): void {
    const { resources } = this;
    const votes = round?.votes() ?? [];
    const details =
      round === undefined
        ? ""
        : `; ${describeVotes(resources, votes, this.#estate.quorum.size, undefined, round.voters)}`;
    const error = new LockLostError(`${quote(resources)}: this lock has been lost: ${why}${details}`, {
      resources,
      votes,
    });
    this.#end({ is: "lost", error });
    publishLoss(() => ({ resources, error }));
    this.#controller?.abort(error);
  }

  /** The handle ends here before anything is sent; nothing writes a key from now on. */
  #end(state: Exclude<State, { is: "held" }>): Round {
    this.#state = state;
    this.#deadline.cancel();
    this.#keeper?.stop();
    this.#estate.onEnd(this);
    return this.#estate.cleanup.release(this.resources, this.token, this.#longestTtlMs);
  }

  #timeoutMs(ttlMs: number): number {
    return Math.min(this.#estate.nodeTimeoutMs, ttlMs / 4);
  }

  #validityOf(ttlMs: number, { stopwatch }: Round) {
    return { ms: ttlMs - driftMs(ttlMs, this.#estate.quorum.driftFactor), stopwatch };
  }

  #leftMs(): number {
    return Math.min(this.#validityLeftMs(), this.#holdLeftMs());
  }

  #validityLeftMs(): number {
    return this.#validity.ms - this.#validity.stopwatch.elapsedMs();
  }

  #holdLeftMs(): number {
    return this.#maxHoldMs - this.#held.elapsedMs();
  }
}

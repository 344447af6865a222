import type { Admission } from "./admission.js";
import type { Cleanup } from "./cleanup.js";
import { driftMs } from "./core/validity.js";
import { Deadline, type Expiring } from "./deadline.js";
import { publishLoss, traceExtend, traceRelease } from "./diagnostics.js";
import { type ClosedError, LockLostError, LockReleasedError } from "./errors.js";
import { type Answers, Extension, type Prolonged } from "./extension.js";
import { Keeper, type Kept } from "./keeper.js";
import type { Lock, ReleaseResult } from "./lock.js";
import { describeVotes, quote } from "./messages.js";
import type { Vote } from "./node.js";
import { requireExtendOptions, requireTtl } from "./options.js";
import { abortable } from "./patience.js";
import type { Quorum, Round } from "./round.js";
import { Stopwatch } from "./runtime.js";

/** The last moment that a `Date` can tell, in the year 275760; the longest ttl ends later. */
const MAX_DATE_MS = 8.64e15;

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
  /** Bounds the attempts under way: one that waits for its turn at the nodes would use up its own time. */
  readonly admission: Admission;
  onEnd(lock: HeldLock): void;
}

type State =
  | { readonly is: "held" }
  | { readonly is: "lost"; readonly error: LockLostError }
  | { readonly is: "released"; readonly reason: ReleaseReason };

/** By the holder, whose error is made only when somebody gets it, or by `close()`. */
type ReleaseReason = "holder" | ClosedError;

export class HeldLock implements Lock, Prolonged, Expiring, Kept {
  readonly resources: readonly string[];
  readonly token: string;
  readonly #ttlMs: number;
  readonly #estate: Estate;
  readonly #extension: Extension;
  readonly #deadline: Deadline;
  readonly #keeper: Keeper | undefined;
  /** Since it was handed over, where that has an end. */
  readonly #held: Stopwatch | undefined;
  readonly #maxHoldMs: number;
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
    this.#held = maxHoldMs === Number.POSITIVE_INFINITY ? undefined : new Stopwatch(quorum.runtime);
    this.#validity = this.#validityOf(ttlMs, round);
    this.#extension = new Extension(this, estate);
    for (const [node, vote] of round.answers.entries()) {
      if (vote !== undefined) this.acquireAnswered(node, vote, true);
    }
    this.#deadline = new Deadline(quorum.runtime, this);
    if (autoExtend) this.#keeper = new Keeper(quorum.runtime, ttlMs, this);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      const ended = this.#endedBy();
      if (ended !== undefined && ended.code !== "ERR_LOCK_RELEASED") this.#controller.abort(ended);
    }
    return this.#controller.signal;
  }

  isHeld(): boolean {
    return this.#state.is === "held" && this.leftMs() > 0;
  }

  remainingMs(): number {
    return this.#state.is === "held" ? Math.max(0, this.leftMs()) : 0;
  }

  throwIfLost(): void {
    if (this.#state.is === "held" && this.leftMs() <= 0) this.expire();
    const ended = this.#endedBy();
    if (ended !== undefined) throw ended;
  }

  get validUntil(): Date {
    return new Date(Math.min(this.#estate.quorum.runtime.wallMs() + this.remainingMs(), MAX_DATE_MS));
  }

  async extend(ttlMs = this.#ttlMs, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    requireTtl(ttlMs, this.#estate.quorum.driftFactor);
    requireExtendOptions(options);
    const { signal } = options;
    signal?.throwIfAborted();
    // A round that its caller has given up is heard to its end: what it won is held.
    await abortable(this.prolong(ttlMs), signal);
  }

  release(): Promise<ReleaseResult> {
    return this.#releaseOnce("holder");
  }

  /** A release that the holder did not ask for: so its signal aborts. */
  shutDown(reason: ClosedError): void {
    const wasHeld = this.isHeld();
    void this.#releaseOnce(reason);
    if (wasHeld) this.#controller?.abort(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  get hasEnded(): boolean {
    return this.#state.is !== "held";
  }

  keysGone(answers: Answers): void {
    this.#lose("its keys are gone", answers);
  }

  keysRepaired(): void {
    this.#keeper?.hasten();
  }

  /** Hears the answers to the acquire, those that came after it was won too. */
  acquireAnswered(node: number, vote: Vote, isInTime: boolean): void {
    this.#extension.acquireAnswered(node, vote, isInTime);
  }

  /** Time has passed that timers did not count: the machine was suspended (for so long), or the wall clock was set forward. */
  noteSuspension(suspendedMs: number): void {
    // Another lock's listener may have released this one in the same turn.
    if (this.#state.is !== "held") return;
    this.#validity.stopwatch.addSuspension(suspendedMs);
    this.#held?.addSuspension(suspendedMs);
    if (this.leftMs() > 0) this.#deadline.arm();
    else this.expire();
  }

  #endedBy(): LockLostError | LockReleasedError | ClosedError | undefined {
    if (this.#state.is === "held") return undefined;
    if (this.#state.is === "lost") return this.#state.error;
    return this.#state.reason === "holder" ? new LockReleasedError(this.resources) : this.#state.reason;
  }

  #releaseOnce(reason: ReleaseReason): Promise<ReleaseResult> {
    this.#released ??= traceRelease(
      () => this.#release(reason),
      () => ({ resources: this.resources }),
    );
    return this.#released;
  }

  async #release(reason: ReleaseReason): Promise<ReleaseResult> {
    if (this.#state.is === "held" && this.leftMs() <= 0) this.expire();
    if (this.#state.is === "lost") return { status: "expired", votes: [] };
    const { voters } = this.#extension;
    const round = this.#end({ is: "released", reason });
    const verdict = await round.settled;
    const votes = round.votes();
    if (verdict !== "won") return { status: "unconfirmed", votes };
    // As in an extension: the lock had been lost unnoticed when the voters that held its key, or are silent, are no quorum.
    const gone = votes.filter((vote, node) => voters.has(node) && vote.vote === "granted" && vote.found.key !== "ours");
    return { status: voters.size - gone.length >= this.#estate.quorum.size ? "released" : "expired", votes };
  }

  prolong(ttlMs: number): Promise<void> {
    return traceExtend(
      () => this.#extendRound(ttlMs),
      () => ({ resources: this.resources, ttlMs }),
    );
  }

  async #extendRound(ttlMs: number): Promise<void> {
    this.throwIfLost();
    this.#longestTtlMs = Math.max(this.#longestTtlMs, ttlMs);
    const round = await this.#extension.extend(ttlMs);
    this.throwIfLost();
    const validity = this.#validityOf(ttlMs, round);
    if (validity.ms - validity.stopwatch.elapsedMs() > this.#validityLeftMs()) this.#validity = validity;
  }

  expire(): void {
    const { undecided } = this.#extension;
    if (this.#validityLeftMs() > this.#holdLeftMs()) {
      this.#lose(`held for the longest time allowed (maxHoldMs ${this.#maxHoldMs})`);
    } else if (undecided === undefined) this.#lose("its validity has ended");
    else this.#lose("its validity has ended, and the last extension stayed undecided", undecided);
  }

  /** Final: a late answer does not bring a lost lock back, and its keys are deleted wherever they may be left. */
  #lose(why: string, answers?: Answers): void {
    const { resources } = this;
    const votes = answers?.votes ?? [];
    const { size } = this.#estate.quorum;
    const details = answers && `; ${describeVotes(resources, votes, size, undefined, answers.voters)}`;
    const error = new LockLostError(`${quote(resources)}: this lock has been lost: ${why}${details ?? ""}`, {
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

  #validityOf(ttlMs: number, { stopwatch }: Round) {
    return { ms: ttlMs - driftMs(ttlMs, this.#estate.quorum.driftFactor), stopwatch };
  }

  leftMs(): number {
    return Math.min(this.#validityLeftMs(), this.#holdLeftMs());
  }

  #validityLeftMs(): number {
    return this.#validity.ms - this.#validity.stopwatch.elapsedMs();
  }

  #holdLeftMs(): number {
    return this.#held === undefined ? Number.POSITIVE_INFINITY : this.#maxHoldMs - this.#held.elapsedMs();
  }
}

import { RedlockError } from "./errors.js";
import type { Runtime, Timer } from "./runtime.js";

/** A third of the ttl between extensions leaves two thirds for rounds that fail. */
const EXTENSIONS_PER_TTL = 3;
/** A repaired node is to vote again soon, yet a node that keeps losing its keys must not cause a storm. */
const HASTENED_PER_TTL = 12;
const RETRIES_PER_TTL = 10;
const MAX_RETRY_DELAY_MS = 1_000;

export interface Kept {
  /** One round; rejects when the lock has ended or the round stayed undecided. */
  prolong(ttlMs: number): Promise<void>;
}

/** Extends one lock until it is told to stop or the lock has ended. Rounds that stayed undecided are tried again. */
export class Keeper {
  readonly #runtime: Runtime;
  readonly #ttlMs: number;
  readonly #lock: Kept;
  #timer: Timer | undefined;
  #lastStartMs: number;
  #isExtending = false;
  #isHastened = false;
  #isStopped = false;

  constructor(runtime: Runtime, ttlMs: number, lock: Kept) {
    this.#runtime = runtime;
    this.#ttlMs = ttlMs;
    this.#lock = lock;
    this.#lastStartMs = runtime.nowMs();
    this.#schedule(ttlMs / EXTENSIONS_PER_TTL);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Brings the next extension forward. */
  hasten(): void {
    if (this.#isExtending) this.#isHastened = true;
    else this.#schedule(this.#ttlMs / HASTENED_PER_TTL);
  }

  /** Counts from the start of the last extension, as its validity does. */
  #schedule(afterLastStartMs: number): void {
    if (this.#isStopped) return;
    this.#timer?.cancel();
    const delayMs = Math.max(0, this.#lastStartMs + afterLastStartMs - this.#runtime.nowMs());
    this.#timer = this.#runtime.setTimer(delayMs, () => void this.#turn());
  }

  async #turn(): Promise<void> {
    this.#lastStartMs = this.#runtime.nowMs();
    this.#isExtending = true;
    this.#isHastened = false;
    const outcome = await this.#lock.prolong(this.#ttlMs).then(
      () => "extended" as const,
      (error) => (RedlockError.is(error) && error.code === "ERR_QUORUM_UNREACHABLE" ? "undecided" : "ended"),
    );
    this.#isExtending = false;
    if (outcome === "ended") this.stop();
    else if (outcome === "undecided") this.#schedule(this.#runtime.nowMs() - this.#lastStartMs + this.#retryDelayMs());
    else this.#schedule(this.#ttlMs / (this.#isHastened ? HASTENED_PER_TTL : EXTENSIONS_PER_TTL));
  }

  /** Jittered, so that the locks of a fleet do not all come back in the same instant. */
  #retryDelayMs(): number {
    const ceilingMs = Math.min(this.#ttlMs / RETRIES_PER_TTL, MAX_RETRY_DELAY_MS);
    return ceilingMs * (0.5 + this.#runtime.random() / 2);
  }
}

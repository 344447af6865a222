import type { Runtime, Timer } from "./runtime.js";

/**
 * How long one caller goes on: until its deadline, until its signal aborts, or until the Redlock is closed. Everything that an
 * acquisition waits for it awaits here, so that each of the three ends it at every stage.
 */
export class Patience {
  readonly #runtime: Runtime;
  readonly #startMs: number;
  readonly #waitMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.cancel(this.#signal?.reason);
  /** A caller who waits is to hear the outcome: a process that ended instead would look as if it had succeeded. */
  readonly #alive: Timer;
  #cancelled: { readonly reason: unknown } | undefined;
  /** Several waits can be under way: the caller's for an attempt, and the attempt's own. */
  readonly #wakes = new Set<() => void>();

  constructor(runtime: Runtime, waitMs: number, signal: AbortSignal | undefined) {
    this.#runtime = runtime;
    this.#startMs = runtime.nowMs();
    this.#waitMs = waitMs;
    this.#signal = signal;
    this.#alive = runtime.keepAlive();
    if (signal?.aborted) this.#onAbort();
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get waitedMs(): number {
    return this.#runtime.nowMs() - this.#startMs;
  }

  get leftMs(): number {
    return this.#waitMs - this.waitedMs;
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** @throws the abort signal's own reason, or what `cancel` was given */
  throwIfCancelled(): void {
    if (this.#cancelled !== undefined) throw this.#cancelled.reason;
  }

  cancel(reason: unknown): void {
    this.#cancelled ??= { reason };
    for (const wake of this.#wakes) wake();
  }

  /** Resolves when the promise has settled, when it took longer than `withinMs`, or when the caller is cancelled. */
  until(settling: Promise<unknown>, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
    return this.#wait((wake) => void settling.then(wake), withinMs);
  }

  /** Resolves after so long, or when the caller is cancelled. */
  sleep(delayMs: number): Promise<void> {
    return this.#wait(() => {}, delayMs);
  }

  end(): void {
    this.#alive.cancel();
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }

  #wait(start: (wake: () => void) => void, withinMs: number): Promise<void> {
    if (this.#cancelled !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      const wake = () => {
        this.#wakes.delete(wake);
        timer?.cancel();
        resolve();
      };
      this.#wakes.add(wake);
      start(wake);
      if (withinMs !== Number.POSITIVE_INFINITY) timer = this.#runtime.setTimer(Math.max(0, withinMs), wake);
    });
  }
}

/** The promise's outcome, or a rejection with the signal's own reason, whichever is first. The promise goes on by itself. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

import type { Runtime, Timer } from "./runtime.js";

/**
 * Node's timers count whole milliseconds and can fire a part of one late, and so can the one timer that all share when it was
 * set: the signal has to come by the end, not after it.
 */
const TIMER_SLACK_MS = 2;

/**
 * Calls back when something that can be prolonged has run out. One timer sleeps until the end that was known when it was set,
 * then asks again: prolonging costs nothing.
 */
export class Deadline {
  readonly #runtime: Runtime;
  readonly #leftMs: () => number;
  readonly #onPassed: () => void;
  #timer: Timer | undefined;

  /** @param leftMs what is left until the end, at the time it is asked */
  constructor(runtime: Runtime, leftMs: () => number, onPassed: () => void) {
    this.#runtime = runtime;
    this.#leftMs = leftMs;
    this.#onPassed = onPassed;
    this.arm();
  }

  /** Anew, when the end has come nearer. */
  arm(): void {
    this.cancel();
    const leftMs = this.#leftMs();
    this.#timer = this.#runtime.setTimer(Math.max(0, Math.floor(leftMs) - TIMER_SLACK_MS), () => {
      // Whole milliseconds here as above: with a part of one more than the slack, the next timer could be the one that is late.
      if (Math.floor(this.#leftMs()) <= TIMER_SLACK_MS) this.#onPassed();
      else this.arm();
    });
    // Had the process been stopped between the look at the clock and the setting of the timer, the timer would be late by that.
    if (leftMs - this.#leftMs() > TIMER_SLACK_MS) this.arm();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

import type { Runtime, Timer } from "./runtime.js";

/**
 * Node's timers count whole milliseconds and can fire a part of one late, and so can the one timer that all share when it was
 * set: the signal has to come by the end, not after it.
 */
const TIMER_SLACK_MS = 2;

export interface Expiring {
  /** Until the end as it is known now, ms. */
  leftMs(): number;
  expire(): void;
}

/**
 * Ends something that can be prolonged when it has run out. One timer sleeps until the end that was known when it was set,
 * then asks again: prolonging costs nothing.
 */
export class Deadline {
  readonly #runtime: Runtime;
  readonly #lock: Expiring;
  #timer: Timer | undefined;

  constructor(runtime: Runtime, lock: Expiring) {
    this.#runtime = runtime;
    this.#lock = lock;
    this.arm();
  }

  /** Anew, when the end has come nearer. */
  arm(): void {
    this.cancel();
    const leftMs = this.#lock.leftMs();
    this.#timer = this.#runtime.setTimer(Math.max(0, Math.floor(leftMs) - TIMER_SLACK_MS), () => {
      // Whole milliseconds here as above: with a part of one more than the slack, the next timer could be the one that is late.
      if (Math.floor(this.#lock.leftMs()) <= TIMER_SLACK_MS) this.#lock.expire();
      else this.arm();
    });
    // Had the process been stopped between the look at the clock and the setting of the timer, the timer would be late by that.
    if (leftMs - this.#lock.leftMs() > TIMER_SLACK_MS) this.arm();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

import type { Runtime, Timer } from "./runtime.js";

/** Node's timers count whole milliseconds and can fire a part of one late: the signal has to come by the end, not after it. */
const TIMER_SLACK_MS = 1;
/** `os.uptime()` counts hundredths of a second, and is read through a file: differences below this are its granularity. */
const UPTIME_SLACK_MS = 100;

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
    this.#arm();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    const suspendedBeforeMs = this.#suspendedMs();
    this.#timer = this.#runtime.setTimer(Math.max(0, Math.floor(this.#leftMs()) - TIMER_SLACK_MS), () => {
      // Suspension that neither clock showed (the wall clock was set back meanwhile) shows in the time since boot.
      const asleepMs = this.#suspendedMs() - suspendedBeforeMs;
      const leftMs = this.#leftMs() - (asleepMs > UPTIME_SLACK_MS ? asleepMs : 0);
      // Whole milliseconds here as above: with a part of one more than the slack, the next timer could be the one that is late.
      if (Math.floor(leftMs) <= TIMER_SLACK_MS) this.#onPassed();
      else this.#arm();
    });
  }

  /** Grows by the time that the machine spends suspended. */
  #suspendedMs(): number {
    return this.#runtime.uptimeMs() - this.#runtime.nowMs();
  }
}

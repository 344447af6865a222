import type { HeldLock } from "./held-lock.js";
import type { Runtime, Timer } from "./runtime.js";

const WATCH_MS = 1_000;
/** `os.uptime()` counts hundredths of a second, and clocks are adjusted by a little all the time. */
const SLACK_MS = 100;

/**
 * The locks that one Redlock holds, and a watch over what their timers cannot see: while a machine is suspended timers stand
 * still, and a wall clock that is set forward does not hasten them. One look a second serves all locks.
 */
export class HeldLocks implements Iterable<HeldLock> {
  readonly #runtime: Runtime;
  readonly #locks = new Set<HeldLock>();
  #timer: Timer | undefined;
  #suspendedMs = 0;
  #wallAheadMs = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  [Symbol.iterator](): Iterator<HeldLock> {
    return this.#locks.values();
  }

  add(lock: HeldLock): void {
    this.#locks.add(lock);
    if (this.#timer !== undefined) return;
    this.#read();
    this.#watch();
  }

  delete(lock: HeldLock): void {
    this.#locks.delete(lock);
    if (this.#locks.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #watch(): void {
    this.#timer = this.#runtime.setTimer(WATCH_MS, () => {
      this.#watch();
      const { suspendedMs, forwardMs } = this.#read();
      if (suspendedMs <= SLACK_MS && forwardMs <= SLACK_MS) return;
      for (const lock of [...this.#locks]) lock.noteSuspension(suspendedMs > SLACK_MS ? suspendedMs : 0);
    });
  }

  /** By how much the time since boot, and the wall clock, have gone ahead of the monotonic clock since the last look. */
  #read(): { readonly suspendedMs: number; readonly forwardMs: number } {
    const nowMs = this.#runtime.nowMs();
    const suspendedMs = this.#runtime.uptimeMs() - nowMs;
    const wallAheadMs = this.#runtime.wallMs() - nowMs;
    const gone = { suspendedMs: suspendedMs - this.#suspendedMs, forwardMs: wallAheadMs - this.#wallAheadMs };
    this.#suspendedMs = suspendedMs;
    this.#wallAheadMs = wallAheadMs;
    return gone;
  }
}

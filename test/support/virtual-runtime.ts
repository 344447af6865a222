import type { Runtime, Timer } from "../../src/runtime.ts";

export interface VirtualRuntimeOptions {
  /** Of the random numbers and the tokens. */
  readonly seed?: number;
}

interface VirtualTimer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Not zero, so that code that takes 0 for "not set" is found out. */
const START_MS = 1_000;
const START_WALL_MS = Date.UTC(2030, 0, 1);
const START_UPTIME_MS = 86_400_000;
const DEFAULT_BOUND_MS = 3_600_000;
/** That of Node's timers. Without it, code that arms a timer again until its time has come would go round for ever. */
const MIN_DELAY_MS = 1;

/** Taken before a test can put fake timers in their place. */
const realImmediate = setImmediate;

/**
 * A machine in virtual time: its clocks move only when a test moves them, and everything that is due happens in order.
 *
 *     const runtime = new VirtualRuntime();
 *     const lock = await runtime.run(redlock.acquire("a", 1_000));
 *     await runtime.advance(500);
 */
export class VirtualRuntime implements Runtime {
  readonly #seed: number;
  readonly #timers: VirtualTimer[] = [];
  readonly #arrivals: (() => void)[] = [];
  #nowMs = START_MS;
  #wallAheadMs = START_WALL_MS - START_MS;
  #uptimeAheadMs = START_UPTIME_MS - START_MS;
  #randomState: number;
  #tokens = 0;

  constructor({ seed = 1 }: VirtualRuntimeOptions = {}) {
    this.#seed = seed >>> 0;
    this.#randomState = this.#seed;
  }

  nowMs = (): number => this.#nowMs;
  wallMs = (): number => this.#nowMs + this.#wallAheadMs;
  uptimeMs = (): number => this.#nowMs + this.#uptimeAheadMs;

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { dueMs: this.#nowMs + Math.max(MIN_DELAY_MS, delayMs), callback };
    // Behind all that are due at the same time or earlier: first set, first run.
    const index = this.#timers.findLastIndex(({ dueMs }) => dueMs <= timer.dueMs) + 1;
    this.#timers.splice(index, 0, timer);
    return { cancel: () => this.#forget(timer) };
  }

  /** Nothing to keep: the test is what runs. */
  keepAlive(): Timer {
    return { cancel: () => {} };
  }

  afterArrivals(callback: () => void): void {
    this.#arrivals.push(callback);
  }

  /** Soon enough: time moves only when nothing else is left to do. */
  endOfTurn(callback: () => void): void {
    process.nextTick(callback);
  }

  /** mulberry32: small, and good enough to choose delays. */
  random = (): number => {
    this.#randomState = (this.#randomState + 0x6d2b79f5) >>> 0;
    let mixed = this.#randomState;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  newToken(): string {
    this.#tokens += 1;
    return hex(this.#seed) + hex(this.#tokens);
  }

  /** Timers that are set, neither run nor cancelled. */
  get pendingTimers(): number {
    return this.#timers.length;
  }

  /** Lets time pass: all that is due within it happens, each at its own time. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    while (await this.#step(endMs)) {}
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  /**
   * Lets time pass until a promise settles, and not longer.
   *
   * @throws Error when it is still pending after `boundMs`, or when nothing is left that could settle it
   */
  async run<T>(promise: Promise<T>, boundMs = DEFAULT_BOUND_MS): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    const startMs = this.#nowMs;
    await microtasks();
    while (!isSettled) {
      const hasMoved = await this.#step(startMs + boundMs);
      await microtasks();
      if (hasMoved || isSettled) continue;
      const why = this.#timers.length === 0 ? "no timer is left that could settle it" : "its time is up";
      throw new Error(`the promise is pending after ${this.#nowMs - startMs} of ${boundMs} virtual ms: ${why}`);
    }
    return promise;
  }

  /** The event loop is blocked: all clocks go on, nothing happens. What came due meanwhile happens at the next `advance`. */
  block(ms: number): void {
    this.#nowMs += ms;
  }

  /** The machine sleeps: only the wall clock and the time since boot go on. */
  suspend(ms: number): void {
    this.#wallAheadMs += ms;
    this.#uptimeAheadMs += ms;
  }

  /** Somebody sets the wall clock, forward or (negative) back. */
  stepWall(ms: number): void {
    this.#wallAheadMs += ms;
  }

  /** One event, at its time. The order is that of Node's event loop: due timers, then what waits for arrivals, then time. */
  async #step(endMs: number): Promise<boolean> {
    await microtasks();
    const next = this.#timers[0];
    if (next !== undefined && next.dueMs <= this.#nowMs) return this.#fire(next);
    const arrival = this.#arrivals.shift();
    if (arrival !== undefined) {
      arrival();
      return true;
    }
    if (next === undefined || next.dueMs > endMs) return false;
    this.#nowMs = next.dueMs;
    return this.#fire(next);
  }

  #fire(timer: VirtualTimer): true {
    this.#forget(timer);
    timer.callback();
    return true;
  }

  #forget(timer: VirtualTimer): void {
    const index = this.#timers.indexOf(timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }
}

/** A turn of the real event loop begins only when all promises that can settle have settled. */
export function microtasks(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}

function hex(value: number): string {
  return value.toString(16).padStart(16, "0");
}

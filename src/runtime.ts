import { randomBytes } from "node:crypto";
import { uptime } from "node:os";

/**
 * Everything the library takes from the machine: clocks, timers, chance. It is passed in, so that tests can drive the real
 * code in virtual time.
 */
export interface Runtime {
  /** Monotonic, ms. It may stand still while the machine is suspended. */
  nowMs(): number;
  /** The wall clock, ms since 1970. It may be set. */
  wallMs(): number;
  /** Since boot, ms, suspension included. Coarse, and dearer to read than the others. */
  uptimeMs(): number;
  /** Calls back once, not earlier than after `delayMs`; it does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Keeps the process alive until it is cancelled, once. */
  keepAlive(): Timer;
  /** Calls back after the answers that have already arrived at this process have been read. */
  afterArrivals(callback: () => void): void;
  /** Calls back at the end of this turn of the event loop: when all that it set off has run, before any timer or answer. */
  endOfTurn(callback: () => void): void;
  /** A number in [0, 1). */
  random(): number;
  /** A new owner value, unique over all processes. */
  newToken(): string;
}

export interface Timer {
  cancel(): void;
}

/** The longest delay that Node's timers take; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const TOKEN_BYTES = 16;
/** Asking the generator costs more than what it gives. */
const TOKENS_AT_ONCE = 64;

/** Not about time, so a test runner's fake timers must not reach them: they would never call back. */
const { nextTick } = process;
const { setImmediate: nextTurn, setInterval: setRealInterval, clearInterval: clearRealInterval } = globalThis;

/** Clocks and timers are looked up at each call, so that fake timers of test runners reach this code. */
export const systemRuntime: Runtime = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  uptimeMs: () => uptime() * 1000,
  setTimer(delayMs, callback) {
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number) => {
      const stepMs = Math.min(leftMs, MAX_TIMER_MS);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), stepMs);
      handle.unref();
    };
    // Node cuts fractions off, which would be early.
    arm(Math.ceil(delayMs));
    return { cancel: () => clearTimeout(handle) };
  },
  keepAlive() {
    reasonsToLive += 1;
    heartbeat ??= setRealInterval(() => {}, MAX_TIMER_MS);
    return { cancel: stopKeepingAlive };
  },
  // Timers run before sockets are read. After a stall of the event loop the answers are there, unread: one turn reads them.
  afterArrivals: (callback) => void nextTurn(callback),
  // After the promise reactions of the turn, not before them: that is where it is called from.
  endOfTurn: (callback) => nextTick(callback),
  random: Math.random,
  newToken() {
    if (tokensLeft === 0) {
      chance = randomBytes(TOKEN_BYTES * TOKENS_AT_ONCE);
      tokensLeft = TOKENS_AT_ONCE;
    }
    tokensLeft -= 1;
    return chance.toString("hex", tokensLeft * TOKEN_BYTES, (tokensLeft + 1) * TOKEN_BYTES);
  },
};

let reasonsToLive = 0;
let heartbeat: NodeJS.Timeout | undefined;

function stopKeepingAlive(): void {
  reasonsToLive -= 1;
  if (reasonsToLive > 0) return;
  clearRealInterval(heartbeat);
  heartbeat = undefined;
}

let chance: Buffer;
let tokensLeft = 0;

/**
 * Time that has passed since a start: the larger of what the monotonic and the wall clock say, so that a machine that was
 * suspended sees its locks end early rather than late. A wall clock set back changes nothing; one set forward ends locks early.
 * It never runs backwards: what was over when somebody looked stays over, also when the wall clock is set right again.
 */
export class Stopwatch {
  readonly #runtime: Runtime;
  readonly #wallStartMs: number;
  #startMs: number;
  #seenMs = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#startMs = runtime.nowMs();
    this.#wallStartMs = runtime.wallMs();
  }

  elapsedMs(): number {
    const runtime = this.#runtime;
    const elapsedMs = Math.max(runtime.nowMs() - this.#startMs, runtime.wallMs() - this.#wallStartMs);
    this.#seenMs = Math.max(this.#seenMs, elapsedMs);
    return this.#seenMs;
  }

  /** The machine was suspended for so long, which the monotonic clock may not have counted. */
  addSuspension(suspendedMs: number): void {
    this.#startMs -= suspendedMs;
  }
}

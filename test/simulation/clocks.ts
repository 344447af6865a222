import type { Time } from "./time.ts";

/** Not zero, and all different, so that code that mixes clocks up is found out. */
const MONO_START_MS = 5_000;
const WALL_START_MS = Date.UTC(2030, 0, 1);
const UPTIME_START_MS = 86_400_000;

/** What one machine takes for the time: three clocks of one rate, of which one can be set and another one can stand still. */
export class Clocks {
  readonly rate: number;
  readonly #time: Time;
  #aheadMs = 0;
  #suspendedSinceMs: number | undefined;
  #suspendedMs = 0;
  #wallStepMs = 0;

  constructor(time: Time, rate: number) {
    this.#time = time;
    this.rate = rate;
  }

  /** The present, in true time, for the code that runs now. */
  get trueNowMs(): number {
    return this.#time.nowMs + this.#aheadMs;
  }

  /** How far the code that runs now is ahead of all others, because its process stalled in the middle of it. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  get monoMs(): number {
    const trueMs = this.#suspendedSinceMs ?? this.trueNowMs;
    return MONO_START_MS + (trueMs - this.#suspendedMs) * this.rate;
  }

  get wallMs(): number {
    return WALL_START_MS + this.trueNowMs * this.rate + this.#wallStepMs;
  }

  get uptimeMs(): number {
    return UPTIME_START_MS + this.trueNowMs * this.rate;
  }

  /** When the monotonic clock will show that, in true time. */
  trueMsAt(monoMs: number): number {
    return this.trueNowMs + (monoMs - this.monoMs) / this.rate;
  }

  runAhead(ms: number): void {
    this.#aheadMs += ms;
  }

  /** @returns how far it was ahead */
  rejoin(): number {
    const aheadMs = this.#aheadMs;
    this.#aheadMs = 0;
    return aheadMs;
  }

  /** The monotonic clock stands still, the others go on. */
  suspend(): void {
    this.#suspendedSinceMs = this.#time.nowMs;
  }

  resume(): void {
    if (this.#suspendedSinceMs !== undefined) this.#suspendedMs += this.#time.nowMs - this.#suspendedSinceMs;
    this.#suspendedSinceMs = undefined;
  }

  stepWall(ms: number): void {
    this.#wallStepMs += ms;
  }
}

import type { Runtime, Timer } from "../../src/runtime.ts";
import type { Chance } from "./chance.ts";
import { Clocks } from "./clocks.ts";
import { drainMicrotasks } from "./microtasks.ts";
import type { Occurrence } from "./queue.ts";
import type { Time } from "./time.ts";

export interface MachineOptions {
  readonly name: string;
  readonly time: Time;
  readonly chance: Chance;
  /** How fast its clocks run: 1.01 gains one per cent on true time. */
  readonly rate: number;
  /** After each turn of the event loop. */
  onTurnEnd(): void;
}

interface MachineTimer {
  readonly dueMs: number;
  readonly callback: () => void;
  occurrence?: Occurrence;
  isCancelled: boolean;
}

/** Node's timers count whole milliseconds, at least one, and fire a part of one late. */
const TIMER_LATE_MS = 0.9;
/** A timer's least delay, with its lateness, on a slow clock. */
const CATCH_UP_MS = 2.1;
/** Rounding must not make a timer early. */
const HAIR_MS = 1e-6;
/** Answers that have arrived are read within so long. */
const POLL_MS = 0.01;

/**
 * One process as the library sees it: its clocks, its timers, its chance, on an event loop that can stop. What reaches it while it
 * is stopped waits, and is done in the order of Node's loop: due timers, then what was received, then what waited for that.
 */
export class Machine implements Runtime {
  readonly name: string;
  readonly #options: MachineOptions;
  readonly #clocks: Clocks;
  readonly random: () => number;
  #state: "running" | "paused" | "dead" = "running";
  #isInTurn = false;
  #isObserved = false;
  #stall: { reads: number; readonly durationMs: number; readonly onStall: () => void } | undefined;
  #resumesAtMs = 0;
  #dueTimers: MachineTimer[] = [];
  #received: (() => void)[] = [];
  #immediates: (() => void)[] = [];
  #turnEnds: (() => void)[] = [];
  #tokens = 0;
  /** When the process came out of a stall in the middle of a turn: timers set in that turn for at once fire a moment later. */
  #stalledUntilMs = Number.NEGATIVE_INFINITY;
  /** Grows with whatever can make the process late: for checks that only hold without. */
  disturbances = 0;
  /** Grows when the wall clock and the monotonic one part. */
  clockDisturbances = 0;
  wallSteps = 0;

  constructor(options: MachineOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clocks = new Clocks(options.time, options.rate);
    this.random = options.chance.random;
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  get isDead(): boolean {
    return this.#state === "dead";
  }

  /** What code that runs in this process now takes for the present, in true time. */
  get trueNowMs(): number {
    return this.#clocks.trueNowMs;
  }

  /** The turn under way stalled: what was true at its start may not be true any more. */
  get isAhead(): boolean {
    return this.#clocks.aheadMs > 0;
  }

  /** It has just come out of a stall, and the timers that this turn set for "at once" have not had their turn yet. */
  get isCatchingUp(): boolean {
    return this.#options.time.nowMs - this.#stalledUntilMs < CATCH_UP_MS;
  }

  nowMs = (): number => {
    if (this.#isInTurn && !this.#isObserved && this.#stall !== undefined) this.#perhapsStall();
    return this.#clocks.monoMs;
  };

  /** What an onlooker finds out does not change the run. */
  observe<T>(look: () => T): T {
    this.#isObserved = true;
    try {
      return look();
    } finally {
      this.#isObserved = false;
    }
  }

  wallMs = (): number => this.#clocks.wallMs;

  uptimeMs = (): number => this.#clocks.uptimeMs;

  setTimer(delayMs: number, callback: () => void): Timer {
    const lateMs = TIMER_LATE_MS * this.#options.chance.random();
    const dueMs = this.#clocks.monoMs + Math.max(1, Math.ceil(delayMs)) + lateMs;
    const timer: MachineTimer = { dueMs, callback, isCancelled: false };
    this.#schedule(timer);
    return {
      cancel: () => {
        timer.isCancelled = true;
        if (timer.occurrence !== undefined) timer.occurrence.run = undefined;
      },
    };
  }

  /** A simulated process lives until it crashes. */
  keepAlive(): Timer {
    return { cancel: () => {} };
  }

  afterArrivals(callback: () => void): void {
    this.#immediates.push(callback);
  }

  endOfTurn(callback: () => void): void {
    this.#turnEnds.push(callback);
  }

  newToken(): string {
    this.#tokens += 1;
    return `${this.name}#${this.#tokens}`;
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.setTimer(delayMs, resolve));
  }

  /** Something reached the process: handled now, or when its event loop runs again. */
  receive(callback: () => void): void {
    if (this.#state === "running") this.#turn([callback]);
    else if (this.#state === "paused") this.#received.push(callback);
  }

  /** The event loop stops: the clocks go on. */
  pause(durationMs: number): void {
    if (this.#state === "dead") return;
    this.disturbances += 1;
    this.#state = "paused";
    this.#resumesAtMs = Math.max(this.#resumesAtMs, this.#options.time.nowMs + durationMs);
    this.#resumeLater();
  }

  /** In the middle of what it does next, at one of its looks at the clock, the process stalls. */
  stallSoon(reads: number, durationMs: number, onStall: () => void): void {
    this.#stall = { reads, durationMs, onStall };
  }

  stallNoMore(): void {
    this.#stall = undefined;
  }

  /** The machine sleeps: the monotonic clock stands still, the wall clock and the time since boot go on. */
  suspend(durationMs: number): void {
    if (this.#state !== "running") return;
    this.clockDisturbances += 1;
    this.#clocks.suspend();
    this.pause(durationMs);
  }

  stepWall(ms: number): void {
    this.clockDisturbances += 1;
    this.wallSteps += 1;
    this.#clocks.stepWall(ms);
  }

  crash(): void {
    this.#state = "dead";
    this.#dueTimers = [];
    this.#received = [];
    this.#immediates = [];
    this.#turnEnds = [];
  }

  #schedule(timer: MachineTimer): void {
    const atMs = this.#clocks.trueMsAt(timer.dueMs) + HAIR_MS;
    timer.occurrence = this.#options.time.at(atMs, () => {
      if (this.#state === "running") this.#turn([timer.callback]);
      else if (this.#state === "paused") this.#dueTimers.push(timer);
    });
  }

  #perhapsStall(): void {
    const stall = this.#stall;
    if (stall === undefined) return;
    stall.reads -= 1;
    if (stall.reads > 0) return;
    this.#stall = undefined;
    this.#clocks.runAhead(stall.durationMs);
    stall.onStall();
  }

  #turn(callbacks: readonly (() => void)[]): void {
    this.#isInTurn = true;
    for (const callback of callbacks) {
      this.#do(callback);
      for (let end = this.#turnEnds.shift(); end !== undefined; end = this.#turnEnds.shift()) this.#do(end);
    }
    this.#isInTurn = false;
    // What the turn did while it was ahead has left at that time; until then nothing more happens here.
    const aheadMs = this.#clocks.rejoin();
    if (aheadMs > 0) {
      this.#stalledUntilMs = this.#options.time.nowMs + aheadMs;
      this.pause(aheadMs);
    } else this.#options.onTurnEnd();
    if (this.#state === "running" && this.#immediates.length > 0) {
      this.#options.time.after(POLL_MS, () => {
        if (this.#state === "running") this.#turn(this.#takeImmediates());
      });
    }
  }

  #do(callback: () => void): void {
    callback();
    drainMicrotasks();
  }

  #resumeLater(): void {
    this.#options.time.at(this.#resumesAtMs, () => {
      if (this.#state === "paused" && this.#options.time.nowMs >= this.#resumesAtMs) this.#resume();
    });
  }

  #resume(): void {
    this.#clocks.resume();
    this.#state = "running";
    const timers = this.#dueTimers.filter(({ isCancelled }) => !isCancelled).sort((a, b) => a.dueMs - b.dueMs);
    this.#dueTimers = [];
    const { monoMs } = this.#clocks;
    // While the machine was suspended its timers stood still.
    for (const timer of timers) if (timer.dueMs > monoMs) this.#schedule(timer);
    const due = timers.filter(({ dueMs }) => dueMs <= monoMs);
    this.#turn(due.map((timer) => () => (timer.isCancelled ? undefined : timer.callback())));
    this.#afterTimers();
  }

  /** The rest of the loop's first turn, unless the process stalled again: then it comes after that. */
  #afterTimers(): void {
    while (this.#state === "running" && this.#received.length > 0) {
      const [next, ...rest] = this.#received;
      this.#received = rest;
      if (next !== undefined) this.#turn([next]);
    }
    if (this.#state === "running" && this.#immediates.length > 0) this.#turn(this.#takeImmediates());
  }

  #takeImmediates(): readonly (() => void)[] {
    const immediates = this.#immediates;
    this.#immediates = [];
    return immediates;
  }
}

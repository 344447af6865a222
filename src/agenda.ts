import type { Runtime, Timer } from "./runtime.js";

class Entry implements Timer {
  readonly dueMs: number;
  /** Of two that are due together the one that was set first comes first. */
  readonly ordinal: number;
  /** Gone when it was cancelled or has run. */
  callback: (() => void) | undefined;
  isQueued = true;
  readonly #onCancel: (entry: Entry) => void;

  constructor(dueMs: number, ordinal: number, callback: () => void, onCancel: (entry: Entry) => void) {
    this.dueMs = dueMs;
    this.ordinal = ordinal;
    this.callback = callback;
    this.#onCancel = onCancel;
  }

  cancel(): void {
    if (this.callback === undefined) return;
    this.callback = undefined;
    if (this.isQueued) this.#onCancel(this);
  }
}

/** With fewer entries that were cancelled it is not worth the while to look for them. */
const MIN_SWEEP = 64;

/** Any number of timers on one of the runtime's: a hundred thousand locks have two each, and most are cancelled before they are due. */
export class Agenda {
  readonly #runtime: Pick<Runtime, "nowMs" | "setTimer">;
  /** A binary heap by due time. */
  #entries: Entry[] = [];
  #cancelledCount = 0;
  readonly #cancelled = () => {
    this.#cancelledCount += 1;
    if (this.#cancelledCount === this.#entries.length) this.#clear();
    else if (this.#cancelledCount > MIN_SWEEP && this.#cancelledCount > this.#entries.length / 2) this.#sweep();
  };
  #ordinals = 0;
  #timer: Timer | undefined;
  #wakesAtMs = Number.POSITIVE_INFINITY;

  constructor(runtime: Pick<Runtime, "nowMs" | "setTimer">) {
    this.#runtime = runtime;
  }

  /** How many timers are remembered. */
  get size(): number {
    return this.#entries.length;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    this.#ordinals += 1;
    const dueMs = this.#runtime.nowMs() + delayMs;
    const entry = new Entry(dueMs, this.#ordinals, callback, this.#cancelled);
    this.#entries.push(entry);
    this.#rise(this.#entries.length - 1);
    if (dueMs < this.#wakesAtMs) this.#wake(delayMs, dueMs);
    return entry;
  }

  #wake(delayMs: number, atMs: number): void {
    this.#timer?.cancel();
    this.#wakesAtMs = atMs;
    this.#timer = this.#runtime.setTimer(delayMs, () => this.#run());
  }

  #run(): void {
    this.#timer = undefined;
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#runtime.nowMs();
    const due: Entry[] = [];
    let next = this.#entries[0];
    while (next !== undefined && (next.callback === undefined || next.dueMs <= nowMs)) {
      this.#takeFirst();
      next.isQueued = false;
      if (next.callback === undefined) this.#cancelledCount -= 1;
      else due.push(next);
      next = this.#entries[0];
    }
    if (next !== undefined) this.#wake(next.dueMs - nowMs, next.dueMs);
    for (const entry of due) {
      const { callback } = entry;
      entry.callback = undefined;
      callback?.();
    }
  }

  #clear(): void {
    this.#entries = [];
    this.#cancelledCount = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#wakesAtMs = Number.POSITIVE_INFINITY;
  }

  #sweep(): void {
    // A sorted list is a heap.
    this.#entries = this.#entries.filter(({ callback }) => callback !== undefined).sort(byTime);
    this.#cancelledCount = 0;
  }

  #rise(index: number): void {
    const entries = this.#entries;
    const entry = entries[index] as Entry;
    let at = index;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above] as Entry;
      if (byTime(parent, entry) <= 0) break;
      entries[at] = parent;
      at = above;
    }
    entries[at] = entry;
  }

  #takeFirst(): void {
    const entries = this.#entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      const right = entries[below + 1];
      if (right !== undefined && byTime(right, entries[below] as Entry) < 0) below += 1;
      const child = entries[below];
      if (child === undefined || byTime(last, child) <= 0) break;
      entries[at] = child;
      at = below;
    }
    entries[at] = last;
  }
}

function byTime(a: Entry, b: Entry): number {
  return a.dueMs - b.dueMs || a.ordinal - b.ordinal;
}

/** The same machine, with one timer of it for all that are set. */
export function withAgenda(runtime: Runtime): Runtime {
  const agenda = new Agenda(runtime);
  return {
    nowMs: () => runtime.nowMs(),
    wallMs: () => runtime.wallMs(),
    uptimeMs: () => runtime.uptimeMs(),
    setTimer: (delayMs, callback) => agenda.setTimer(delayMs, callback),
    keepAlive: () => runtime.keepAlive(),
    afterArrivals: (callback) => runtime.afterArrivals(callback),
    endOfTurn: (callback) => runtime.endOfTurn(callback),
    random: () => runtime.random(),
    newToken: () => runtime.newToken(),
  };
}

import { type Occurrence, Queue } from "./queue.ts";

/** True time, which no clock in the simulated world shows, and what is going to happen in it. */
export class Time {
  nowMs = 0;
  /** How much has happened. */
  events = 0;
  readonly #queue = new Queue();
  #isStopped = false;

  at(atMs: number, run: () => void): Occurrence {
    return this.#queue.add(Math.max(atMs, this.nowMs), run);
  }

  after(delayMs: number, run: () => void): Occurrence {
    return this.at(this.nowMs + delayMs, run);
  }

  /** Nothing happens any more: what went wrong is not to be buried. */
  stop(): void {
    this.#isStopped = true;
  }

  /**
   * Lets time pass until then, or until it is over.
   *
   * @param isOver asked after each event
   */
  runUntil(endMs: number, isOver: () => boolean = () => false): void {
    while (!this.#isStopped && !isOver()) {
      const next = this.#queue.take(endMs);
      if (next === undefined) {
        this.nowMs = endMs;
        return;
      }
      this.nowMs = next.atMs;
      this.events += 1;
      next.run?.();
    }
  }
}

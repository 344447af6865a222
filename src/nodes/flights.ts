import type { Command } from "../node.js";
import type { Runtime } from "../runtime.js";
import { isWrite, type Request, tokenOf } from "./request.js";

/** What left together, until its answer comes or the connection ends. */
export interface Flight {
  readonly requests: readonly Request[];
  readonly sentAtMs: number;
  /** Of the connection that it was sent on. */
  readonly epoch: number;
}

export interface FlightsOptions {
  readonly runtime: Runtime;
  readonly nodeTimeoutMs: number;
  /** The oldest command is overdue, or is not any more. */
  onOverdueChange(): void;
  /** A command has been overdue for long. */
  onAbandoned(): void;
}

/** A connection whose oldest command is unanswered for so long is given up. */
const ABANDON_MS = 5_000;

/** What one node has in flight, in the order of sending, and whether the node still answers. */
export class Flights {
  readonly #options: FlightsOptions;
  readonly #flights = new Set<Flight>();
  /** That because of which nothing new is sent. */
  #overdue: Flight | undefined;
  #commandCount = 0;

  constructor(options: FlightsOptions) {
    this.#options = options;
  }

  /** How many commands are in flight. */
  get commandCount(): number {
    return this.#commandCount;
  }

  start(requests: readonly Request[], epoch: number): Flight {
    const flight: Flight = { requests, sentAtMs: this.#options.runtime.nowMs(), epoch };
    this.#flights.add(flight);
    this.#commandCount += requests.length;
    return flight;
  }

  /** @returns whether it was in flight until now: its requests are to be answered, once */
  land(flight: Flight): boolean {
    if (!this.#flights.delete(flight)) return false;
    this.#commandCount -= flight.requests.length;
    return true;
  }

  /** All that was in flight lands. */
  landAll(): readonly Flight[] {
    this.#overdue = undefined;
    const landed = [...this.#flights];
    this.#flights.clear();
    this.#commandCount = 0;
    return landed;
  }

  /** @returns whether this is the answer that was overdue */
  endOverdue(flight: Flight): boolean {
    if (this.#overdue !== flight) return false;
    this.#overdue = undefined;
    this.#options.onOverdueChange();
    return true;
  }

  /** Whether a command of this token is on its way. */
  carries(token: string): boolean {
    return this.#some((command) => tokenOf(command) === token);
  }

  get hasWrites(): boolean {
    return this.#some(isWrite);
  }

  /** For how long the node has been silent; undefined when nothing is overdue. */
  get silentMs(): number | undefined {
    return this.#overdue === undefined ? undefined : this.#options.runtime.nowMs() - this.#overdue.sentAtMs;
  }

  /**
   * Whether the oldest command is unanswered for longer than the node timeout. After a stall of our own event loop the answer may
   * have arrived and not been read, so the node is not called silent before that has been looked at.
   */
  isOverdue(): boolean {
    if (this.#overdue !== undefined) return true;
    const { runtime, nodeTimeoutMs } = this.#options;
    const [oldest] = this.#flights;
    if (oldest === undefined || runtime.nowMs() - oldest.sentAtMs <= nodeTimeoutMs) return false;
    runtime.afterArrivals(() => this.#declareOverdue(oldest));
    return false;
  }

  #declareOverdue(oldest: Flight): void {
    if (this.#overdue !== undefined || !this.#flights.has(oldest)) return;
    this.#overdue = oldest;
    this.#options.onOverdueChange();
    this.#options.runtime.setTimer(ABANDON_MS, () => {
      if (this.#flights.has(oldest)) this.#options.onAbandoned();
    });
  }

  #some(is: (command: Command) => boolean): boolean {
    for (const { requests } of this.#flights) if (requests.some(({ command }) => is(command))) return true;
    return false;
  }
}

import type { Command, Vote } from "../node.js";
import type { Runtime } from "../runtime.js";
import type { Release } from "./kept-releases.js";

/** A command on its way: until its answer comes, or the connection ends. */
export interface Flight {
  readonly command: Command;
  readonly sentAtMs: number;
  /** Of the connection that it was sent on. */
  readonly epoch: number;
  readonly land: (vote: Vote) => void;
  /** A release that a Cluster client may carry out before this command, which it may send again. */
  repeatAfter?: Release;
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
  /** The command because of which nothing new is sent. */
  #overdue: Flight | undefined;

  constructor(options: FlightsOptions) {
    this.#options = options;
  }

  /** @param land called once, with the vote that the command ends with */
  start(command: Command, epoch: number, land: (vote: Vote) => void): Flight {
    const flight: Flight = {
      command,
      sentAtMs: this.#options.runtime.nowMs(),
      epoch,
      land: (vote) => {
        if (this.#flights.delete(flight)) land(vote);
      },
    };
    this.#flights.add(flight);
    return flight;
  }

  /** @returns whether this is the answer that was overdue */
  endOverdue(flight: Flight): boolean {
    if (this.#overdue !== flight) return false;
    this.#overdue = undefined;
    this.#options.onOverdueChange();
    return true;
  }

  landAll(vote: Vote): void {
    this.#overdue = undefined;
    for (const flight of [...this.#flights]) flight.land(vote);
  }

  /** Whether a command of this token is on its way. */
  carries(token: string): boolean {
    return [...this.#flights].some(({ command }) => tokenOf(command) === token);
  }

  get hasWrites(): boolean {
    return [...this.#flights].some(({ command }) => isWrite(command));
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
}

export function tokenOf(command: Command): string {
  return command.kind === "inspect" ? "" : command.token;
}

/** It can leave a key behind that a release has to delete. */
export function isWrite({ kind }: Command): boolean {
  return kind === "acquire" || kind === "repair" || kind === "extend";
}

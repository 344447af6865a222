import type { Runtime } from "../runtime.js";
import { isWrite, type Request, tokenOf } from "./request.js";

export interface OutboxOptions {
  readonly runtime: Pick<Runtime, "endOfTurn">;
  /** How many more commands may be in flight now. */
  room(): number;
  /** Sends them, in this order. */
  depart(requests: readonly Request[]): void;
}

/**
 * What is to be sent to one node. The commands of one turn of the event loop leave together at its end, in the order of the calls.
 * When too much is in flight they wait; releases do not, for they make room for others, but stay behind the writes of their own
 * token.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  #turn: Request[] = [];
  #waiting: Request[] = [];
  /** How many writes of a token are waiting. */
  readonly #waitingWrites = new Map<string, number>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Beyond what may be in flight. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  post(request: Request): void {
    this.#turn.push(request);
    if (this.#turn.length === 1) this.#options.runtime.endOfTurn(() => this.#endTurn());
  }

  /** There may be room in flight again. */
  sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    const next = this.#waiting.splice(0, Math.max(0, this.#options.room()));
    for (const request of next) this.#count(request, -1);
    if (next.length > 0) this.#options.depart(next);
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = [];
    if (this.#waiting.length === 0 && turn.length <= this.#options.room()) {
      this.#options.depart(turn);
      return;
    }
    const ahead: Request[] = [];
    for (const request of turn) {
      if (this.#mayPass(request)) ahead.push(request);
      else this.#wait(request);
    }
    if (ahead.length > 0) this.#options.depart(ahead);
    this.sendWaiting();
  }

  #mayPass({ command }: Request): boolean {
    return command.kind === "release" && !this.#waitingWrites.has(command.token);
  }

  #wait(request: Request): void {
    this.#waiting.push(request);
    this.#count(request, 1);
  }

  #count({ command }: Request, change: 1 | -1): void {
    if (!isWrite(command)) return;
    const token = tokenOf(command);
    const count = (this.#waitingWrites.get(token) ?? 0) + change;
    if (count === 0) this.#waitingWrites.delete(token);
    else this.#waitingWrites.set(token, count);
  }
}

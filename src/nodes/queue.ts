import type { Command } from "../node.js";
import { isWrite, tokenOf } from "./flights.js";

/** The writes that wait for their turn at a node, by token: a release has to stay behind those of its own, and only those. */
export class Queue {
  readonly #waiting = new Map<string, number>();

  enter(command: Command): void {
    if (isWrite(command)) this.#waiting.set(tokenOf(command), (this.#waiting.get(tokenOf(command)) ?? 0) + 1);
  }

  leave(command: Command): void {
    if (!isWrite(command)) return;
    const left = (this.#waiting.get(tokenOf(command)) ?? 1) - 1;
    if (left === 0) this.#waiting.delete(tokenOf(command));
    else this.#waiting.set(tokenOf(command), left);
  }

  holds(token: string): boolean {
    return this.#waiting.has(token);
  }
}

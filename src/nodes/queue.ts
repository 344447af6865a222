import type { Command } from "../node.js";
import { isWrite, tokenOf } from "./flights.js";

/**
 * The writes that wait for their turn at a node. A release does not wait behind them; so one that comes while a write of its
 * token is still waiting revokes that write, which would otherwise run after it and leave a key behind.
 */
export class Queue {
  readonly #waiting = new Map<string, { count: number; isRevoked: boolean }>();

  enter(command: Command): void {
    if (!isWrite(command)) return;
    const entry = this.#waiting.get(tokenOf(command));
    if (entry === undefined) this.#waiting.set(tokenOf(command), { count: 1, isRevoked: false });
    else entry.count += 1;
  }

  revoke(token: string): void {
    const entry = this.#waiting.get(token);
    if (entry !== undefined) entry.isRevoked = true;
  }

  /** @returns whether the command may be sent */
  leave(command: Command): boolean {
    const entry = this.#waiting.get(tokenOf(command));
    if (!isWrite(command) || entry === undefined) return true;
    entry.count -= 1;
    if (entry.count === 0) this.#waiting.delete(tokenOf(command));
    return !entry.isRevoked;
  }
}

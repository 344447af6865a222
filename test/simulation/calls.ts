import { RedlockError } from "../../src/errors.ts";
import type { Client } from "./client.ts";
import type { Referee } from "./referee.ts";

export type Outcome<T> =
  | { readonly is: "done"; readonly value: T }
  | { readonly is: "failed"; readonly error: unknown };

interface Pending {
  readonly client: Client;
  readonly what: string;
}

/** Timers that follow one another are each a little late. */
const SLACK_MS = 10;

/** Judges that every call settles, in its time, and with an error that is documented. */
export class Calls {
  readonly #pending = new Set<Pending>();
  readonly #referee: Referee;

  constructor(referee: Referee) {
    this.#referee = referee;
  }

  /**
   * Never rejects.
   *
   * @param boundMs within which the call promises to settle, on the caller's clock
   * @param reason that the caller may have aborted it with, or that his own routine may have failed with
   * @param signal that ends the call at once
   */
  async settle<T>(
    client: Client,
    what: string,
    boundMs: number,
    call: PromiseLike<T>,
    reason?: unknown,
    signal?: AbortSignal,
  ): Promise<Outcome<T>> {
    const pending = { client, what };
    this.#pending.add(pending);
    client.note(`calls ${what}`);
    if (boundMs !== Number.POSITIVE_INFINITY) this.#watch(pending, boundMs);
    if (signal?.aborted === true) this.#watch(pending, 0);
    else signal?.addEventListener("abort", () => this.#watch(pending, 0));
    try {
      const value = await call;
      return { is: "done", value };
    } catch (error) {
      this.#judge(client, what, error, reason);
      return { is: "failed", error };
    } finally {
      this.#pending.delete(pending);
    }
  }

  /** Nothing is left that a living process waits for. */
  judgeEnd(): void {
    for (const { client, what } of this.#pending) {
      if (!client.machine.isDead) this.#referee.report("calls settle", `${client.name}'s ${what} is still pending`);
    }
  }

  #watch(pending: Pending, boundMs: number): void {
    if (!this.#pending.has(pending)) return;
    const { machine } = pending.client;
    const { disturbances } = machine;
    machine.setTimer(boundMs + SLACK_MS, () => {
      if (!this.#pending.has(pending)) return;
      // A process that was stopped meanwhile is late by itself.
      if (machine.disturbances !== disturbances) this.#watch(pending, boundMs);
      else {
        const text = `${pending.client.name}'s ${pending.what} takes more than ${Math.round(boundMs)} ms`;
        this.#referee.report("calls settle", text);
      }
    });
  }

  #judge(client: Client, what: string, error: unknown, reason: unknown): void {
    const isDenied = RedlockError.is(error) && error.votes.some(({ vote }) => vote === "denied");
    if (RedlockError.is(error) && error.code === "ERR_LOCK_HELD" && !isDenied) {
      this.#referee.report("known errors", `${client.name}'s ${what} says that it is held, and nobody denied it`);
    }
    if (RedlockError.is(error)) client.note(`${what}: ${error.code}`, () => `(${error.message})`);
    else if (reason !== undefined && error === reason) client.note(`${what}: aborted`);
    else this.#referee.report("known errors", `${client.name}'s ${what} failed with ${String(error)}`);
  }
}

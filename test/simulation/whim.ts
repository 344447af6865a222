import type { Chance } from "./chance.ts";
import type { Client } from "./client.ts";

/** More than any chain of promises between an answer and what follows from it. */
const MAX_HOPS = 20;

/** Somebody who changes his mind about a call, at any moment of it: also between an answer and what follows from it. */
export class Whim {
  readonly reason = new Error("no longer wanted");
  readonly #controller = new AbortController();

  constructor(client: Client, chance: Chance, withinMs: number) {
    const moment = chance.weighted({ before: 1, later: 4, "at an answer": 4 });
    if (moment === "before") this.abort();
    else if (moment === "later") client.machine.setTimer(chance.between(0, withinMs), () => this.abort());
    else {
      const hops = chance.whole(0, MAX_HOPS);
      client.afterVotes(chance.whole(1, client.servers.length * 2), () => void this.#abortAfter(hops));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort(this.reason);
  }

  async #abortAfter(hops: number): Promise<void> {
    for (let hop = 0; hop < hops; hop += 1) await undefined;
    this.abort();
  }
}

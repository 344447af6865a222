import type { Master, Masters } from "../fixture/masters.ts";
import type { Client, Clients } from "./clients.ts";
import type { Fault, Strike } from "./faults/fault.ts";
import { type Journal, nowMs, type Phase } from "./history.ts";

/** All that faults can hit: the nodes and the client processes. */
export class Cluster {
  readonly nodes: readonly Master[];
  readonly clients: Clients;
  readonly longestTtlMs: number;
  readonly backend: "process" | "container";
  readonly #journal: Journal;
  #strikes = 0;

  constructor(masters: Masters, clients: Clients, journal: Journal, terms: Pick<Cluster, "longestTtlMs" | "backend">) {
    this.nodes = masters.nodes;
    this.clients = clients;
    this.longestTtlMs = terms.longestTtlMs;
    this.backend = terms.backend;
    this.#journal = journal;
  }

  /** How many there have been. */
  get strikes(): number {
    return this.#strikes;
  }

  /**
   * One fault, from its beginning to its end, written down.
   *
   * @param whileItLasts may resolve before its time: then the fault ends early
   */
  async strike(
    fault: Fault,
    victims: readonly (Master | Client)[],
    lengthMs: number,
    whileItLasts: (lengthMs: number) => Promise<unknown>,
  ): Promise<void> {
    this.#strikes += 1;
    const number = this.#strikes;
    const names = victims.map(({ name }) => name);
    const [nodes, clients] = fault.part === "client" ? [[], names] : [names, []];
    const note = (phase: Phase) =>
      this.#journal.write({ is: "strike", strike: number, fault: fault.name, phase, nodes, clients });
    const fromMs = nowMs();
    const strike: Strike = {
      cluster: this,
      lengthMs,
      wiped: (node, keys, isCertain) =>
        this.#journal.write({ is: "wiped", strike: number, node: node.name, keys, isCertain }, fromMs),
    };
    note("inject");
    if (fault.part === "client") await Promise.all((victims as Client[]).map((each) => fault.inject(each, strike)));
    else await Promise.all((victims as Master[]).map((each) => fault.inject(each, strike)));
    note("injected");
    const sinceMs = performance.now();
    await whileItLasts(lengthMs);
    const lasted = { ...strike, lengthMs: performance.now() - sinceMs };
    note("heal");
    if (fault.part === "client") await Promise.all((victims as Client[]).map((each) => fault.heal(each, lasted)));
    else await Promise.all((victims as Master[]).map((each) => fault.heal(each, lasted)));
    note("healed");
  }
}

import type { Command, Vote } from "../../src/node.ts";
import type { Client } from "./client.ts";
import type { Time } from "./time.ts";

/** One extend round, or one repair. */
interface Sent {
  readonly atMs: number;
  denials: number;
}

/** What the nodes said of extensions: what can have succeeded, and what cannot have. */
export class Extensions {
  readonly #time: Time;
  readonly #sent = new WeakMap<Command, Sent>();
  /** By token: of those that some node granted in the last turn that heard of any, when the first one was sent. */
  readonly #granted = new Map<string, { readonly event: number; readonly sentAtMs: number }>();
  /** Tokens of which so many nodes denied one extension that the others are no quorum. */
  readonly #refuted = new Set<string>();

  constructor(time: Time) {
    this.#time = time;
  }

  sent(client: Client, command: Command): void {
    if (!this.#sent.has(command)) this.#sent.set(command, { atMs: client.machine.trueNowMs, denials: 0 });
  }

  voted(client: Client, command: Command, { vote }: Vote): void {
    const sent = this.#sent.get(command);
    if (sent === undefined || (command.kind !== "extend" && command.kind !== "repair")) return;
    if (vote === "granted") this.#note(command.token, sent.atMs);
    if (vote !== "denied" || command.kind !== "extend") return;
    sent.denials += 1;
    if (client.servers.length - sent.denials < client.quorum) this.#refuted.add(command.token);
  }

  /** None that can have succeeded in the turn that just ended was sent before that. */
  grantedSinceMs(token: string): number {
    return this.#granted.get(token)?.sentAtMs ?? Number.NEGATIVE_INFINITY;
  }

  isRefuted(token: string): boolean {
    return this.#refuted.has(token);
  }

  #note(token: string, sentAtMs: number): void {
    const before = this.#granted.get(token);
    const { events } = this.#time;
    const firstMs = before?.event === events ? Math.min(before.sentAtMs, sentAtMs) : sentAtMs;
    this.#granted.set(token, { event: events, sentAtMs: firstMs });
  }
}

import type { Command, LockNode, Vote } from "../../src/node.ts";
import type { Client } from "./client.ts";
import type { Counts } from "./counts.ts";
import type { Referee } from "./referee.ts";
import type { Time } from "./time.ts";
import type { NodeWatcher } from "./watched-node.ts";

interface Token {
  readonly owner: Client;
  /** When it was first sent, in true time and on its owner's monotonic clock. */
  readonly sentAtMs: number;
  readonly sentAtMonoMs: number;
  readonly clockDisturbances: number;
  readonly ttlMs: number;
  readonly acquiredOn: Set<LockNode>;
  readonly releasedOn: Set<LockNode>;
  /** Of the extensions that were granted by some node in the last turn that heard of any: when the first was sent. */
  extended: { readonly event: number; readonly sentAtMs: number } | undefined;
}

/** As in the drift of the documentation: `ttl × driftFactor + 2 ms`. */
const GRANULARITY_MS = 2;

/** Judges what the rounds send: which token may be sent when. */
export class Tokens {
  readonly #tokens = new Map<string, Token>();
  /** Whose release has been sent to some nodes and not to all: for no longer than a turn. */
  readonly #partlyReleased = new Set<string>();
  readonly #sentAtMs = new WeakMap<Command, number>();
  readonly #time: Time;
  readonly #referee: Referee;
  readonly #counts: Counts;

  constructor(time: Time, referee: Referee, counts: Counts) {
    this.#time = time;
    this.#referee = referee;
    this.#counts = counts;
  }

  watcherOf(client: Client): NodeWatcher {
    return {
      sent: (node, command) => this.#sent(client, node, command),
      voted: (node, command, vote) => this.#voted(client, node, command, vote),
    };
  }

  /** No process goes on with a release that it has sent to a part of its nodes. */
  turnEnded(): void {
    for (const token of this.#partlyReleased) {
      this.#referee.report("release everywhere", `${token} was released on some nodes and not on the others`);
    }
  }

  /** At the end, of clients that live: everything they asked for has been given back. */
  judgeEnd(): void {
    for (const [token, { owner, releasedOn }] of this.#tokens) {
      if (releasedOn.size === 0 && !owner.machine.isDead) {
        this.#referee.report("release everywhere", `${token} was never released`);
      }
    }
  }

  ownerOf(token: string): Client | undefined {
    return this.#tokens.get(token)?.owner;
  }

  isReleased(token: string): boolean {
    return (this.#tokens.get(token)?.releasedOn.size ?? 0) > 0;
  }

  sentAtMs(token: string): number {
    return this.#tokens.get(token)?.sentAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** What the formula gives a lock that is handed over now; undefined where its holder's clocks do not agree. */
  validityMs(token: string, driftFactor: number): number | undefined {
    const sent = this.#tokens.get(token);
    if (sent === undefined || sent.owner.machine.clockDisturbances !== sent.clockDisturbances) return undefined;
    const { machine } = sent.owner;
    return sent.ttlMs * (1 - driftFactor) - GRANULARITY_MS - (machine.observe(machine.nowMs) - sent.sentAtMonoMs);
  }

  /** No extension that can have succeeded in the turn that just ended was sent before that. */
  extendedSinceMs(token: string): number {
    return this.#tokens.get(token)?.extended?.sentAtMs ?? Number.NEGATIVE_INFINITY;
  }

  #sent(client: Client, node: LockNode, command: Command): void {
    client.note(`→ ${node.name} ${command.kind}`, () => ("token" in command ? command.token : command.keys.join("+")));
    if (command.kind === "inspect") return;
    const token = this.#tokenOf(client, command);
    if (command.kind === "release") {
      this.#released(token, command.token, node);
      return;
    }
    if (!this.#sentAtMs.has(command)) this.#sentAtMs.set(command, client.machine.trueNowMs);
    if (command.kind === "repair") this.#counts.add("repair");
    if (command.kind === "extend" && !client.isExtendingByHand) this.#counts.add("automatic extension");
    if (token.releasedOn.size > 0) {
      this.#referee.report("no write after release", `${command.kind} of ${command.token}, which has been released`);
    }
    if (command.kind !== "acquire") return;
    if (token.owner !== client || token.acquiredOn.has(node)) {
      this.#referee.report("token of its own", `${client.name} sends ${command.token} again to ${node.name}`);
    }
    token.acquiredOn.add(node);
  }

  #released(token: Token, name: string, node: LockNode): void {
    token.releasedOn.add(node);
    if (token.releasedOn.size < token.owner.servers.length) this.#partlyReleased.add(name);
    else this.#partlyReleased.delete(name);
  }

  #tokenOf(owner: Client, { token: name, ttlMs }: Exclude<Command, { kind: "inspect" }>): Token {
    let token = this.#tokens.get(name);
    if (token === undefined) {
      const { machine } = owner;
      token = {
        owner,
        sentAtMs: machine.trueNowMs,
        sentAtMonoMs: machine.observe(machine.nowMs),
        clockDisturbances: machine.clockDisturbances,
        ttlMs,
        acquiredOn: new Set(),
        releasedOn: new Set(),
        extended: undefined,
      };
      this.#tokens.set(name, token);
    }
    return token;
  }

  #voted(client: Client, node: LockNode, command: Command, vote: Vote): void {
    client.note(`← ${node.name} ${command.kind}: ${vote.vote}`, () =>
      vote.vote === "unknown" ? `(${vote.reason}: ${vote.message})` : `(${vote.found.key})`,
    );
    const token = command.kind === "extend" && vote.vote === "granted" ? this.#tokens.get(command.token) : undefined;
    if (token === undefined) return;
    const sentAtMs = this.#sentAtMs.get(command) ?? Number.NEGATIVE_INFINITY;
    const event = this.#time.events;
    const isSameTurn = token.extended?.event === event;
    token.extended = {
      event,
      sentAtMs: isSameTurn ? Math.min(sentAtMs, token.extended?.sentAtMs ?? sentAtMs) : sentAtMs,
    };
  }
}

import type { Command, LockNode } from "../../src/node.ts";
import type { Client } from "./client.ts";
import type { Counts } from "./counts.ts";
import type { Referee } from "./referee.ts";

interface Token {
  readonly owner: Client;
  /** When it was first sent, in true time and on its owner's monotonic clock. */
  readonly sentAtMs: number;
  readonly sentAtMonoMs: number;
  readonly clockDisturbances: number;
  /** The turn that sent it had stalled before that, maybe after its stopwatch had been started. */
  readonly isAhead: boolean;
  readonly ttlMs: number;
  readonly acquiredOn: Set<LockNode>;
  readonly releasedOn: Set<LockNode>;
  /** When its release began, in true time. */
  releasedAtMs: number;
}

/** How long a clock may take for a second. */
const SLOWEST = 1.05;
const TIMERS_LATE_MS = 5;

/** As in the drift of the documentation: `ttl × driftFactor + 2 ms`. */
const GRANULARITY_MS = 2;

/** Judges what the rounds send: which token may be sent when. */
export class Tokens {
  readonly #tokens = new Map<string, Token>();
  /** Whose release has been sent to some nodes and not to all: for no longer than a turn. */
  readonly #partlyReleased = new Set<string>();
  readonly #referee: Referee;
  readonly #counts: Counts;

  constructor(referee: Referee, counts: Counts) {
    this.#referee = referee;
    this.#counts = counts;
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

  /** In true time. Never: infinite. */
  releasedAtMs(token: string): number {
    return this.#tokens.get(token)?.releasedAtMs ?? Number.POSITIVE_INFINITY;
  }

  sentAtMs(token: string): number {
    return this.#tokens.get(token)?.sentAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** By then its acquire round is over, in true time: grants that come until then count at once. */
  acquireOverAtMs(token: string, nodeTimeoutMs: number): number {
    const sent = this.#tokens.get(token);
    if (sent === undefined) return Number.NEGATIVE_INFINITY;
    return sent.sentAtMs + Math.min(nodeTimeoutMs, sent.ttlMs / 4) * SLOWEST + TIMERS_LATE_MS;
  }

  /** What the formula gives a lock that is handed over now; undefined where it cannot be told, or its holder's clocks do not agree. */
  validityMs(token: string, driftFactor: number): number | undefined {
    const sent = this.#tokens.get(token);
    if (sent === undefined || sent.isAhead || sent.owner.machine.clockDisturbances !== sent.clockDisturbances)
      return undefined;
    const { machine } = sent.owner;
    return sent.ttlMs * (1 - driftFactor) - GRANULARITY_MS - (machine.observe(machine.nowMs) - sent.sentAtMonoMs);
  }

  sent(client: Client, node: LockNode, command: Command): void {
    if (command.kind === "inspect") return;
    const token = this.#tokenOf(client, command);
    if (command.kind === "release") {
      this.#released(token, command.token, node);
      return;
    }
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
    token.releasedAtMs = Math.min(token.releasedAtMs, token.owner.machine.trueNowMs);
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
        isAhead: machine.isAhead,
        ttlMs,
        acquiredOn: new Set(),
        releasedOn: new Set(),
        releasedAtMs: Number.POSITIVE_INFINITY,
      };
      this.#tokens.set(name, token);
    }
    return token;
  }
}

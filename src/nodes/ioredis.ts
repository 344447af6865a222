import { publishNode } from "../diagnostics.js";
import type { Command, LockNode, NodeStatus, UnknownReason, Vote } from "../node.js";
import type { Runtime } from "../runtime.js";
import { isCluster, keyPrefixOf, type RedisClient } from "./client.js";
import { Connection } from "./connection.js";
import { type Flight, Flights } from "./flights.js";
import { Gate } from "./gate.js";
import { KeptReleases, type Release } from "./kept-releases.js";
import { Outbox } from "./outbox.js";
import { endsTrust, isForbidden, refusalOf } from "./refusal.js";
import { isWrite, loads, type Request, tokenOf } from "./request.js";
import { Resends } from "./resends.js";
import type { Roster } from "./roster.js";
import { voteOf, votesOfSeveral, wordsOf, wordsOfSeveral } from "./scripts.js";
import { slotOf } from "./slot.js";

export interface IoredisNodeOptions {
  readonly name: string;
  readonly client: RedisClient;
  /** Opened by this library, so closed by it. */
  readonly isOwned: boolean;
  readonly nodeTimeoutMs: number;
  readonly roster: Roster;
  readonly runtime: Runtime;
}

const MAX_IN_FLIGHT = 1_024;
const MAX_WAITING = 10_000;
/** Releases that the server refused are tried again so often. */
const RETRY_KEPT_MS = 1_000;
/** A caller waits for the first connection, and learns why there is none before its round calls that silence. */
const GATE_SHARE = 0.9;
const LATENCY_WEIGHT = 0.1;

/** A voter behind a client of ioredis or iovalkey: one master, or one cluster. */
export class IoredisNode implements LockNode {
  readonly name: string;
  readonly #options: IoredisNodeOptions;
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #flights: Flights;
  readonly #kept: KeptReleases;
  readonly #resends = new Resends();
  /** Tokens whose acquire was not sent: there is nothing to release. */
  readonly #neverSent = new Set<string>();
  readonly #isCluster: boolean;
  /** Closed while it is connecting: until that succeeded or failed, or a caller has waited for it in vain. */
  readonly #gate: Gate;
  #latencyMs: number | undefined;
  #hasLostWrites = false;
  #keptSentAtMs = Number.NEGATIVE_INFINITY;
  #isRetryingKept = false;

  constructor(options: IoredisNodeOptions) {
    this.name = options.name;
    this.#options = options;
    this.#isCluster = isCluster(options.client);
    this.#kept = new KeptReleases(() => options.runtime.nowMs());
    this.#flights = new Flights({
      ...options,
      onOverdueChange: () => this.#publish(),
      onAbandoned: () => this.#connection.abandon(),
    });
    this.#outbox = new Outbox({
      runtime: options.runtime,
      // What is withheld needs no room.
      room: () =>
        this.#obstacle() === undefined ? MAX_IN_FLIGHT - this.#flights.commandCount : Number.POSITIVE_INFINITY,
      depart: (requests) => this.#depart(requests),
    });
    this.#gate = new Gate(options.runtime);
    this.#gate.close();
    this.#connection = new Connection({
      ...options,
      onClose: () => this.#connectionClosed(),
      onChange: () => this.#connectionChanged(),
    });
    this.#connectionChanged();
  }

  send(command: Command, timeoutMs: number): Promise<Vote> {
    const { runtime } = this.#options;
    const giveUpAtMs = command.kind === "release" ? Number.POSITIVE_INFINITY : runtime.nowMs() + timeoutMs;
    return new Promise((answer) => {
      const request = { command, giveUpAtMs, answer };
      if (this.#gate.isClosed) void this.#gate.pass(timeoutMs * GATE_SHARE).then(() => this.#post(request));
      else this.#post(request);
    });
  }

  status(): NodeStatus {
    const { state, lastError } = this.#connection;
    const { silentMs } = this.#flights;
    const isHung = state.is === "ready" && silentMs !== undefined;
    const silence = isHung ? `not responding for ${Math.round(silentMs)} ms` : undefined;
    const detail = "detail" in state ? state.detail : silence;
    return {
      name: this.name,
      state: isHung ? "not-responding" : state.is,
      ...(detail === undefined ? {} : { detail }),
      ...(lastError === undefined ? {} : { lastError }),
      ...(this.#latencyMs === undefined ? {} : { latencyMs: this.#latencyMs }),
      ...(state.is === "ready" ? { runId: state.runId } : {}),
      ...(this.#kept.size === 0 ? {} : { keptReleases: this.#kept.size }),
    };
  }

  objection(keys: readonly string[]): string | undefined {
    if (!this.#isCluster || keys.length === 1) return undefined;
    const prefix = keyPrefixOf(this.#connection.client);
    const slots = new Set(keys.map((key) => slotOf(prefix + key)));
    if (slots.size === 1) return undefined;
    return `these resources are in ${slots.size} hash slots of the cluster, one is needed: give them one {hash tag}, as in "{order:7}:stock"`;
  }

  async close(): Promise<void> {
    this.#gate.open();
    this.#connection.close();
    const closed = unknown("closed", "closed while the command was in flight");
    for (const flight of this.#flights.landAll()) this.#tell(flight, () => closed);
  }

  #post(request: Request): void {
    const isRelease = request.command.kind === "release";
    if (isRelease || this.#outbox.waitingCount < MAX_WAITING) this.#outbox.post(request);
    else request.answer(unknown("busy", `${MAX_WAITING} commands are waiting for this node`));
  }

  /** Why nothing can be sent now. */
  #obstacle(): Vote | undefined {
    const { state } = this.#connection;
    switch (state.is) {
      case "closed":
        return unknown("closed", "this node has been closed");
      case "connecting":
        return unknown("not-ready", "not connected yet");
      case "down":
        return unknown("not-ready", state.detail);
      case "unfit":
        return unknown(state.reason, state.detail);
      case "ready":
        if (!this.#connection.isUsable)
          return unknown("not-ready", `not connected: the client is ${this.#connection.client.status}`);
        // Without a time, so that an error can name all nodes that hang together.
        if (this.#flights.isOverdue())
          return unknown("not-responding", "not responding (an earlier command is overdue)");
        return undefined;
    }
  }

  /** Called at the end of a turn, or when there is room again: too late for some, or the connection may have gone meanwhile. */
  #depart(requests: readonly Request[]): void {
    const obstacle = this.#obstacle();
    const nowMs = this.#options.runtime.nowMs();
    const leaving: Request[] = [];
    for (const request of requests) {
      if (obstacle !== undefined) this.#withhold(request, obstacle);
      else if (nowMs <= request.giveUpAtMs) leaving.push(request);
      else request.answer(unknown("busy", "not sent: it waited too long behind other commands"));
    }
    for (const together of this.#isCluster ? leaving.map((request) => [request]) : loads(leaving)) this.#fly(together);
  }

  /**
   * A command that is not sent. A release is kept for later; when the command that set its key is still on its way it follows that
   * on the same connection, so that it is carried out even if this process is not there any more.
   */
  #withhold({ command, answer }: Request, obstacle: Vote): void {
    if (command.kind === "acquire") this.#neverSent.add(command.token);
    if (command.kind === "release" && !this.#neverSent.delete(command.token)) {
      this.#resends.repeatBehindWrites(command);
      if (this.#connection.isUsable && this.#flights.carries(command.token)) this.#fly([unheard(command)]);
      else this.#kept.keep(command);
    }
    answer(obstacle);
  }

  #fly(requests: readonly Request[]): void {
    if (this.#neverSent.size > 0) for (const { command } of requests) this.#neverSent.delete(tokenOf(command));
    const flight = this.#flights.start(requests, this.#connection.epoch);
    if (this.#isCluster) this.#resends.sent(flight);
    this.#call(requests).then(
      (votes) => this.#answered(flight, votes),
      (error: unknown) => this.#failed(flight, error),
    );
  }

  /** A client that throws instead of rejecting must not take the flight with it. */
  async #call(requests: readonly Request[]): Promise<readonly Vote[]> {
    const { client } = this.#connection;
    const commands = requests.map(({ command }) => command);
    const [first] = commands;
    if (first !== undefined && commands.length === 1) {
      return [voteOf(first, await client.call(...wordsOf(first, !this.#isCluster)))];
    }
    return votesOfSeveral(commands, await client.call(...wordsOfSeveral(commands)));
  }

  #answered(flight: Flight, votes: readonly Vote[]): void {
    const repeated = this.#resends.settled(flight);
    if (repeated !== undefined) this.#outbox.post(unheard(repeated));
    // Whatever the answer is worth, the node is not silent any more.
    const wasOverdue = this.#flights.endOverdue(flight);
    if (flight.epoch !== this.#connection.epoch) {
      // The client sent the command again on a new connection: the server may have lost its data in between.
      this.#land(flight, () => unknown("connection", "answered on another connection than the command was sent on"));
      if (wasOverdue) this.#sendKept();
      return;
    }
    const isAnswer = votes.some(({ vote }) => vote !== "unknown");
    if (isAnswer) this.#noteLatency(this.#options.runtime.nowMs() - flight.sentAtMs);
    this.#land(flight, (index) => votes[index] as Vote);
    // A server that goes on refusing releases, and answers all else, is not asked about them at each answer.
    const isRetryDue = this.#options.runtime.nowMs() - this.#keptSentAtMs >= RETRY_KEPT_MS;
    if (isAnswer && (wasOverdue || isRetryDue)) this.#sendKept();
    const change = votes.find((vote) => vote.vote === "unknown" && endsTrust(vote));
    if (change?.vote === "unknown") this.#connection.doubt(change.message);
  }

  #failed(flight: Flight, error: unknown): void {
    const refusal = refusalOf(error);
    const { requests } = flight;
    if (requests.length > 1 && isForbidden(refusal)) {
      this.#flyOneByOne(flight, { vote: "unknown", ...refusal });
      return;
    }
    // Given up by the client, not by the server: the command may run yet, and a node that hangs is to get no further one.
    if (refusal.reason === "timeout" && requests.some(({ command }) => isWrite(command))) this.#hasLostWrites = true;
    this.#answered(
      flight,
      requests.map(() => ({ vote: "unknown", ...refusal })),
    );
  }

  /**
   * The server looks at all keys before it begins: with one that the user may not touch it has carried out none of the commands. A
   * write whose release was sent meanwhile must not follow it.
   */
  #flyOneByOne(flight: Flight, refusal: Vote): void {
    this.#flights.endOverdue(flight);
    if (flight.epoch !== this.#connection.epoch || !this.#flights.land(flight)) return;
    for (const request of flight.requests) {
      if (isWrite(request.command) && this.#flights.carries(tokenOf(request.command))) request.answer(refusal);
      else this.#fly([request]);
    }
  }

  #land(flight: Flight, voteOn: (index: number) => Vote): void {
    if (!this.#flights.land(flight)) return;
    this.#tell(flight, voteOn);
    this.#outbox.sendWaiting();
  }

  #tell({ requests }: Flight, voteOn: (index: number) => Vote): void {
    for (const [index, { command, answer }] of requests.entries()) {
      const vote = voteOn(index);
      if (command.kind === "release" && vote.vote === "unknown") {
        this.#kept.keep(command);
        if (vote.reason === "refused") this.#retryKeptLater();
      }
      answer(vote);
    }
  }

  #noteLatency(latencyMs: number): void {
    const before = this.#latencyMs ?? latencyMs;
    this.#latencyMs = before + (latencyMs - before) * LATENCY_WEIGHT;
  }

  #connectionClosed(): { lostWrites: boolean } {
    this.#hasLostWrites ||= this.#flights.hasWrites;
    const ended = unknown("connection", "the connection ended before the answer came");
    for (const flight of this.#flights.landAll()) this.#tell(flight, () => ended);
    return { lostWrites: this.#hasLostWrites };
  }

  #connectionChanged(): void {
    const { state } = this.#connection;
    if (state.is === "connecting") this.#gate.close();
    else this.#gate.open();
    if (state.is === "ready") this.#sendKept();
    if (state.is === "ready") this.#hasLostWrites = false;
    // What was in flight has landed, or nothing can be sent any more.
    this.#outbox.sendWaiting();
    this.#publish();
  }

  #sendKept(): void {
    if (this.#kept.size === 0) return;
    this.#keptSentAtMs = this.#options.runtime.nowMs();
    for (const release of this.#kept.take(!this.#hasLostWrites)) this.#outbox.post(unheard(release));
  }

  /** After a refusal there may be no further answer that would bring the releases to mind. */
  #retryKeptLater(): void {
    if (this.#isRetryingKept) return;
    this.#isRetryingKept = true;
    this.#options.runtime.setTimer(RETRY_KEPT_MS, () => {
      this.#isRetryingKept = false;
      // With an obstacle its end is the time to send them.
      if (this.#obstacle() === undefined) this.#sendKept();
    });
  }

  #publish(): void {
    publishNode(() => ({ status: this.status() }));
  }
}

/** Nobody waits for its answer. */
function unheard(release: Release): Request {
  return { command: release, giveUpAtMs: Number.POSITIVE_INFINITY, answer: () => {} };
}

function unknown(reason: UnknownReason, message: string): Vote {
  return { vote: "unknown", reason, message };
}

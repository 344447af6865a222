import type { UnknownReason } from "../node.js";
import type { Runtime, Timer } from "../runtime.js";
import { databaseOf, destroySocket, isCluster, isWritable, mastersOf, type RedisClient } from "./client.js";
import { refusalOf, withoutCommand } from "./refusal.js";
import type { Roster } from "./roster.js";
import { parseServerInfo, type ServerInfo, unfitness } from "./server-info.js";

/**
 * - `connecting`: for the first time, or a Cluster client to other masters than before; not known yet what is there.
 * - `ready`: connected, and INFO says that this is a server that may vote.
 * - `unfit`: connected, and it may not.
 * - `down`: not connected, or connected again and not verified yet.
 */
export type ConnectionState =
  | { readonly is: "connecting" }
  | { readonly is: "ready"; readonly runId: string }
  | { readonly is: "unfit"; readonly reason: UnknownReason; readonly detail: string }
  | { readonly is: "down"; readonly detail: string }
  | { readonly is: "closed" };

export interface ConnectionOptions {
  readonly name: string;
  readonly client: RedisClient;
  /** The connection was opened by this library: it may be ended. */
  readonly isOwned: boolean;
  readonly roster: Roster;
  readonly runtime: Runtime;
  /** Whether commands that write were in flight when the connection closed: they may run yet. */
  onClose(): { readonly lostWrites: boolean };
  onChange(): void;
}

type Listener = Parameters<RedisClient["on"]>[1];

/** A server that is loading, or a replica that may be promoted, is asked again so often. */
const RECHECK_MS = 500;
/** A connection that leaves INFO unanswered for so long is half open, or its server hangs: an owned one is made anew. */
const SILENT_MS = 5_000;

/**
 * Guards one client: knows in which epoch its connection is and whether the server behind it may be trusted with a vote. From
 * every close until INFO was answered again it may not: the server may have been restarted, replaced or demoted.
 */
export class Connection {
  readonly client: RedisClient;
  /** Grows with every connection: an answer counts only in the epoch in which its command was sent. */
  epoch = 0;
  lastError: Error | undefined;
  /** Since it was last ready: why it is down now. */
  #recentError: Error | undefined;
  readonly #options: ConnectionOptions;
  readonly #listeners: readonly (readonly [event: string, listener: Listener])[];
  readonly #watchedMasters = new Map<RedisClient, Listener>();

  #state: ConnectionState = { is: "connecting" };
  #timer: Timer | undefined;
  /** What a new connection has to end first, so that nothing that it left behind runs after a release. */
  #predecessor: { readonly clientId: string; readonly runId: string } | undefined;
  #current: { readonly clientId: string; readonly runId: string } | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.client = options.client;
    this.#listeners = [
      ["ready", () => this.#verify()],
      ["close", () => this.#closed("not connected (closed)")],
      ["end", () => this.#closed("not connected (the client was closed)")],
      ["error", (error: Error) => this.#failed(error)],
      // A Cluster client: the connection to one of the masters went.
      ["-node", () => this.#renew()],
    ];
    for (const [event, listener] of this.#listeners) this.client.on(event, listener);
    if (this.client.status === "wait") this.client.connect().catch(() => {});
    if (this.client.status === "ready") this.#verify();
    // Nobody is told: the node is not there yet, and looks at the state itself.
    if (this.client.status === "end") this.#state = { is: "down", detail: "not connected (the client was closed)" };
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Verified, and a command would leave at once instead of waiting in the client's queue. */
  get isUsable(): boolean {
    return this.#state.is === "ready" && isWritable(this.client);
  }

  /** An answer, or its absence, shows that the server is not what it was: it is asked again what it is. */
  doubt(detail: string): void {
    if (this.#state.is !== "ready") return;
    this.#become({ is: "down", detail });
    this.#verify();
  }

  /** The server has been silent for too long. */
  abandon(): void {
    if (this.#options.isOwned) destroySocket(this.client);
  }

  close(): void {
    for (const [event, listener] of this.#listeners) this.client.off(event, listener);
    this.#watchMasters([]);
    this.#timer?.cancel();
    this.#options.roster.release(this.#options.name);
    this.#become({ is: "closed" });
    if (!this.#options.isOwned) return;
    // Nobody listens any more, and a client may still report that its connection went.
    this.client.on("error", () => {});
    // What was written still leaves; a connection that does not end by itself is destroyed after the client's disconnectTimeout.
    this.client.disconnect();
  }

  #closed(detail: string): void {
    if (this.#state.is === "closed") return;
    this.epoch += 1;
    this.#timer?.cancel();
    const { lostWrites } = this.#options.onClose();
    if (lostWrites) this.#predecessor = this.#current ?? this.#predecessor;
    this.#current = undefined;
    this.#become({
      is: "down",
      detail: this.#recentError === undefined ? detail : refusalOf(this.#recentError).message,
    });
  }

  #failed(error: Error): void {
    this.lastError = withoutCommand(error);
    this.#recentError = this.lastError;
    // The client may be trying for the first time, for ever: that is an answer too.
    if (this.#state.is !== "ready" && this.#state.is !== "closed") {
      this.#become({ is: "down", detail: refusalOf(error).message });
    }
  }

  /** The masters of a cluster come and go: those that went are not watched any more. */
  #watchMasters(masters: readonly RedisClient[]): void {
    for (const [master, listener] of this.#watchedMasters) {
      if (masters.includes(master)) continue;
      master.off("close", listener);
      this.#watchedMasters.delete(master);
    }
    for (const master of masters) {
      if (this.#watchedMasters.has(master)) continue;
      const listener = () => this.#renew();
      this.#watchedMasters.set(master, listener);
      master.on("close", listener);
    }
  }

  /** The set of a cluster's connections changed: what is in flight may be sent again elsewhere. */
  #renew(): void {
    if (this.#state.is === "closed") return;
    this.epoch += 1;
    this.#options.onClose();
    this.#become({ is: "connecting" });
    if (this.client.status === "ready") this.#verify();
  }

  #verify(): void {
    this.epoch += 1;
    const { epoch } = this;
    if (this.#state.is === "down") this.#become({ is: "down", detail: "connected, but INFO is not answered yet" });
    this.#timer?.cancel();
    this.#timer = this.#options.runtime.setTimer(SILENT_MS, () => {
      this.#become({ is: "down", detail: `connected, but INFO is not answered for ${SILENT_MS} ms` });
      this.abandon();
    });
    void this.#askServer().then(
      ({ infos, clientId }) => {
        if (epoch === this.epoch) this.#judge(infos, clientId);
      },
      (error: unknown) => {
        if (epoch !== this.epoch) return;
        const { reason, message } = refusalOf(error);
        const detail = `cannot be verified: ${message}`;
        this.#become(reason === "timeout" ? { is: "down", detail } : { is: "unfit", reason, detail });
        this.#recheck();
      },
    );
  }

  async #askServer(): Promise<{ infos: readonly ServerInfo[]; clientId: string | undefined }> {
    const masters = mastersOf(this.client);
    if (isCluster(this.client)) this.#watchMasters(masters);
    // Not permitted everywhere; it is needed only to end a predecessor.
    const clientId = isCluster(this.client) ? undefined : this.client.call("client", "id").catch(() => undefined);
    // A SELECT that was refused at the start of the connection leaves it in database 0, where others do not look.
    const database = databaseOf(this.client);
    if (this.#options.isOwned && database !== 0) await this.client.call("select", database);
    const infos = await infosOf(masters);
    const runIds = new Set(infos.map(({ runId }) => runId));
    if (this.#predecessor !== undefined && runIds.has(this.#predecessor.runId)) {
      // Not permitted everywhere either: then what the predecessor left can run late, and ends with its ttl.
      await this.client.call("client", "kill", "id", this.#predecessor.clientId).catch(() => undefined);
    }
    const id = await clientId;
    return { infos, clientId: id === undefined ? undefined : String(id) };
  }

  #judge(infos: readonly ServerInfo[], clientId: string | undefined): void {
    const [first] = infos;
    const obstacle = this.#obstacleIn(infos);
    if (first === undefined || obstacle !== undefined) {
      this.#become({ is: "unfit", ...(obstacle ?? { reason: "not-ready", detail: "the cluster has no master yet" }) });
      this.#recheck();
      return;
    }
    this.#timer?.cancel();
    this.#recentError = undefined;
    this.#predecessor = undefined;
    this.#current = clientId === undefined ? undefined : { clientId, runId: first.runId };
    this.#become({ is: "ready", runId: first.runId });
  }

  /** Why these servers cannot vote as this node. */
  #obstacleIn(infos: readonly ServerInfo[]): { reason: UnknownReason; detail: string } | undefined {
    for (const info of infos) {
      const detail = unfitness(info, isCluster(this.client));
      if (detail !== undefined) return { reason: "unfit", detail };
      if (info.isLoading) return { reason: "refused", detail: refusalOf("LOADING").message };
    }
    const runIds = infos.map(({ runId }) => runId);
    const other = this.#options.roster.claim(this.#options.name, runIds);
    return other === undefined
      ? undefined
      : { reason: "same-server", detail: `the same server as ${other}, which votes for it` };
  }

  #recheck(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.runtime.setTimer(RECHECK_MS, () => this.#verify());
  }

  #become(state: ConnectionState): void {
    const isNews = state.is !== this.#state.is || JSON.stringify(state) !== JSON.stringify(this.#state);
    this.#state = state;
    if (isNews) this.#options.onChange();
  }
}

/** One of a cluster's masters may be dead: its commands fail by themselves, the others go on. */
async function infosOf(masters: readonly RedisClient[]): Promise<readonly ServerInfo[]> {
  const answers = await Promise.allSettled(
    masters.map(async (master) => parseServerInfo(String(await master.call("info")))),
  );
  const infos = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const failure = answers.find((answer) => answer.status === "rejected");
  if (infos.length === 0 && failure !== undefined) throw failure.reason;
  return infos;
}

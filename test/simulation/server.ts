import type { Command, Vote } from "../../src/node.ts";
import { MemoryStore } from "../../src/nodes/memory-store.ts";
import type { Chance } from "./chance.ts";
import type { Connection, ToServer, Words } from "./connection.ts";
import type { Counts } from "./counts.ts";
import { commandOf, describe, replyOf, severalOf } from "./protocol.ts";
import type { Time } from "./time.ts";
import type { Timeline } from "./timeline.ts";

export interface ServerOptions {
  readonly name: string;
  readonly time: Time;
  readonly timeline: Timeline;
  readonly counts: Counts;
  readonly chance: Chance;
  /** How fast its clock runs. */
  readonly rate: number;
  /** Whether clients are permitted CLIENT KILL. */
  readonly mayKill: boolean;
  /** After each command that was carried out. */
  onCommand(server: Server, connection: Connection): void;
}

interface Received {
  readonly connection: Connection;
  readonly words: Words;
}

/** One master as its connections see it: one thread, keys with times to live on its own clock, and a life that can end. */
export class Server {
  readonly name: string;
  readonly store: MemoryStore;
  /** Each command takes so long. */
  serviceMs = 0;
  /** The error that writes are answered with, if any. */
  refusal: string | undefined;
  /** Up to which time keys may have been lost, in true time. */
  lostDataAtMs = Number.NEGATIVE_INFINITY;
  readonly #options: ServerOptions;
  readonly #connections = new Set<Connection>();
  #inbox: Received[] = [];
  #isUp = true;
  #isFrozen = false;
  #isBusy = false;
  #loadsUntilMs = 0;
  #starts = 0;
  #connectionIds = 0;
  #clockStepMs = 0;

  constructor(options: ServerOptions) {
    this.name = options.name;
    this.#options = options;
    this.store = new MemoryStore(() => options.time.nowMs * options.rate + this.#clockStepMs);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  receive(connection: Connection, message: ToServer): void {
    if (message.is === "open") this.#accept(connection);
    else if (!connection.isOpenAtServer) {
      if (message.is === "command") this.#options.counts.add("request lost");
    } else if (message.is === "end") this.#inbox.push({ connection, words: END });
    else this.#inbox.push({ connection, words: message.words });
    this.#work();
  }

  /** The server's end of a connection goes: what it has not read is lost. */
  drop(connection: Connection): void {
    if (!connection.isOpenAtServer) return;
    connection.isOpenAtServer = false;
    this.#connections.delete(connection);
    const unread = this.#inbox.filter((received) => received.connection === connection && received.words !== END);
    this.#options.counts.add("request lost", unread.length);
    this.#inbox = this.#inbox.filter((received) => received.connection !== connection);
    connection.replies.send({ is: "end" });
  }

  crash({ keepsData }: { keepsData: boolean }): void {
    const { time, timeline, counts, chance } = this.#options;
    this.#isUp = false;
    this.#isFrozen = false;
    this.#isBusy = false;
    timeline.note(time.nowMs, this.name, keepsData ? "crashes" : "crashes and loses its data");
    counts.add("server crash");
    for (const connection of [...this.#connections]) {
      if (chance.happens(0.5)) counts.add("reply lost", connection.replies.cut().length);
      this.drop(connection);
    }
    if (!keepsData) this.flush();
  }

  flush(): void {
    this.store.clear();
    this.lostDataAtMs = this.#options.time.nowMs;
  }

  start({ loadsForMs }: { loadsForMs: number }): void {
    const { time, timeline, counts } = this.#options;
    this.#isUp = true;
    this.#starts += 1;
    this.#loadsUntilMs = time.nowMs + loadsForMs;
    timeline.note(time.nowMs, this.name, "starts");
    if (loadsForMs > 0) counts.add("server loading");
  }

  finishLoading(): void {
    this.#loadsUntilMs = 0;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  /** What was received meanwhile is carried out: in order on each connection, in any order between them. */
  thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    const turns = this.#options.chance.shuffled(this.#inbox.map(({ connection }) => connection));
    const waiting = this.#inbox;
    this.#inbox = turns.flatMap((turn) =>
      waiting.splice(
        waiting.findIndex(({ connection }) => connection === turn),
        1,
      ),
    );
    this.#work();
  }

  stepClock(ms: number): void {
    this.#clockStepMs += ms;
  }

  /** Whether all of the keys are the token's. */
  isHolding(keys: readonly string[], token: string): boolean {
    return keys.every((key) => this.store.read(key)?.value === token);
  }

  #accept(connection: Connection): void {
    if (!this.#isUp) {
      connection.replies.send({ is: "end" });
      return;
    }
    this.#connectionIds += 1;
    connection.id = this.#connectionIds;
    connection.isOpenAtServer = true;
    this.#connections.add(connection);
    connection.replies.send({ is: "opened" });
  }

  /** Carries out what was received, one command after the other. */
  #work(): void {
    while (this.#isUp && !this.#isFrozen && !this.#isBusy && this.#inbox.length > 0) {
      if (this.serviceMs > 0) {
        this.#isBusy = true;
        this.#options.time.after(this.serviceMs, () => this.#workOn());
        return;
      }
      this.#serveNext();
    }
  }

  #workOn(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    if (this.#isUp && !this.#isFrozen) this.#serveNext();
    this.#work();
  }

  #serveNext(): void {
    const next = this.#inbox.shift();
    if (next === undefined) return;
    const { connection, words } = next;
    if (words === END) {
      this.drop(connection);
      return;
    }
    if (!connection.isOpenAtClient) this.#options.counts.add("late run from an old connection");
    const answer = this.#answer(connection, words);
    connection.replies.send(
      answer instanceof Refused ? { is: "error", message: answer.message } : { is: "reply", reply: answer },
    );
  }

  #answer(connection: Connection, words: Words): unknown {
    const [name, first] = words;
    if (name === "info") return this.#info();
    if (name === "client") return first === "id" ? connection.id : this.#kill(Number(words[3]));
    if (this.#options.time.nowMs < this.#loadsUntilMs)
      return new Refused("LOADING Redis is loading the dataset in memory");
    const several = severalOf(words);
    const commands = several ?? [commandOf(words)];
    const answers = commands.map((command) => {
      if (this.refusal !== undefined) {
        this.#options.counts.add("server refuses writes");
        return new Refused(this.refusal);
      }
      const answer = this.#carryOut(command, words[0] === "set");
      this.#options.onCommand(this, connection);
      return answer;
    });
    if (several === undefined) return answers[0];
    this.#options.counts.add("several commands at once");
    if (answers.every((answer) => answer === 1)) return answers.length;
    return answers.map((answer) => (answer instanceof Refused ? [-1, answer.message] : answer));
  }

  #info(): string {
    const isLoading = this.#options.time.nowMs < this.#loadsUntilMs;
    return `redis_version:7.2.4\r\nrun_id:${this.name}/${this.#starts}\r\nrole:master\r\nloading:${isLoading ? 1 : 0}`;
  }

  #kill(id: number): unknown {
    if (!this.#options.mayKill)
      return new Refused("NOPERM this user has no permissions to run the 'client|kill' command");
    const victim = [...this.#connections].find((connection) => connection.id === id);
    if (victim === undefined) return 0;
    this.#options.counts.add("predecessor killed");
    this.drop(victim);
    return 1;
  }

  /** @param isPlain SET NX: it looks for any value; the scripts tell our own from another's */
  #carryOut(command: Command, isPlain: boolean): unknown {
    const { time, timeline } = this.#options;
    const isTaken = isPlain && command.keys.some((key) => this.store.read(key) !== undefined);
    const vote = isTaken ? undefined : this.store.carryOut(command);
    timeline.note(time.nowMs, this.name, `${command.kind}: ${vote?.vote ?? "denied"}`, () => describe(command, vote));
    if (isPlain) return isTaken ? null : "OK";
    return replyOf(vote as Vote);
  }
}

/** Stands in an inbox for the end of a connection. */
const END: Words = [];

class Refused {
  constructor(readonly message: string) {}
}

import type { Chance } from "./chance.ts";
import type { Time } from "./time.ts";

/** One way of the network between a process and a server: all connections between the two share it. */
export class Way {
  /** Added to every delay. */
  extraMs = 0;
  readonly #meanDelayMs: number;
  readonly #chance: Chance;
  /** Several things can stop a way at once. */
  #stops = 0;
  #waiting: (() => void)[] = [];

  constructor(chance: Chance, meanDelayMs: number) {
    this.#chance = chance;
    this.#meanDelayMs = meanDelayMs;
  }

  get isStopped(): boolean {
    return this.#stops > 0;
  }

  delayMs(): number {
    return this.#meanDelayMs * 0.5 + this.#chance.exponential(this.#meanDelayMs * 0.5) + this.extraMs;
  }

  /** Nothing arrives any more. Nothing is lost either: connections keep what they carry, and deliver it afterwards. */
  stop(): () => void {
    this.#stops += 1;
    let isStopping = true;
    return () => {
      if (isStopping) this.#go();
      isStopping = false;
    };
  }

  whenGoing(callback: () => void): void {
    this.#waiting.push(callback);
  }

  #go(): void {
    this.#stops -= 1;
    if (this.isStopped) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const callback of waiting) callback();
  }
}

/** Between one process and one server. */
export interface Link {
  readonly toServer: Way;
  readonly toClient: Way;
}

interface Parcel<Message> {
  readonly message: Message;
  readonly arrivesAtMs: number;
}

/** One direction of one connection: messages arrive in the order in which they were sent, as on TCP. */
export class Pipe<Message> {
  /** Added to every delay on this connection, such as that of an old socket whose bytes still lie somewhere. */
  extraMs = 0;
  readonly #time: Time;
  readonly #way: Way;
  readonly #deliver: (message: Message) => void;
  #parcels: Parcel<Message>[] = [];
  #lastArrivalMs = 0;
  #isMoving = false;

  constructor(time: Time, way: Way, deliver: (message: Message) => void) {
    this.#time = time;
    this.#way = way;
    this.#deliver = deliver;
  }

  get size(): number {
    return this.#parcels.length;
  }

  /** @param atMs when it leaves: a process that stalled sends later than now */
  send(message: Message, atMs = this.#time.nowMs): void {
    const arrivesAtMs = Math.max(atMs + this.#way.delayMs() + this.extraMs, this.#lastArrivalMs);
    this.#lastArrivalMs = arrivesAtMs;
    this.#parcels.push({ message, arrivesAtMs });
    if (!this.#isMoving) this.#move();
  }

  /** What is on the way takes longer. */
  hold(ms: number): void {
    this.#parcels = this.#parcels.map(({ message, arrivesAtMs }) => ({ message, arrivesAtMs: arrivesAtMs + ms }));
    this.#lastArrivalMs += ms;
  }

  /** Takes away what is on the way. */
  cut(): Message[] {
    const parcels = this.#parcels;
    this.#parcels = [];
    return parcels.map(({ message }) => message);
  }

  #move(): void {
    const [next] = this.#parcels;
    this.#isMoving = next !== undefined;
    if (next !== undefined) this.#time.at(next.arrivesAtMs, () => this.#arrive());
  }

  #arrive(): void {
    if (this.#way.isStopped) {
      this.#way.whenGoing(() => this.#arrive());
      return;
    }
    // What was cut meanwhile is gone, and what was sent after that is not there yet.
    const [next] = this.#parcels;
    if (next !== undefined && next.arrivesAtMs <= this.#time.nowMs) {
      this.#parcels.shift();
      this.#deliver(next.message);
    }
    this.#move();
  }
}

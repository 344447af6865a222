import { Electorate } from "../../../src/core/electorate.ts";
import { quorumOf } from "../../../src/core/tally.ts";

/** Whose key stands on a node. */
type Key = "ours" | "rival" | "absent";

/** What waits in a node's socket, in the order it was sent. */
type Waiting =
  | { readonly is: "acquire reply" }
  | { readonly is: "extend"; readonly round: number }
  | { readonly is: "repair" };

interface RoundState {
  readonly voters: ReadonlySet<number>;
  readonly isAfterRival: boolean;
  /** What each node that has answered found. */
  readonly answers: Map<number, Key>;
  isWon: boolean;
}

/**
 * - `flush`: a node restarts without its data.
 * - `rival`: another client is granted the lock by these nodes, which is a quorum.
 * - `round`: we extend; the command stays in the socket of the nodes that are silent.
 * - `deliver`: a node carries out the oldest command in its socket, and its answer arrives.
 */
export type Event =
  | { readonly is: "flush"; readonly node: number }
  | { readonly is: "rival"; readonly nodes: readonly number[] }
  | { readonly is: "round"; readonly silent: readonly number[] }
  | { readonly is: "deliver"; readonly node: number };

/** How many nodes had granted our lock when it was won, and what the others are about to say. */
export type Start = "all granted" | "one grant is late" | "one has never got it";

/**
 * The smallest world in which one lock can be held, lost and repaired: nodes with one key each, our lock with the real
 * {@link Electorate}, and a rival. It has no time and no restart guard, so that nothing but the electorate's rules protects.
 */
export class World {
  readonly nodeCount: number;
  readonly quorum: number;
  readonly keys: Key[];
  /** The rival was granted a quorum: from now on no extension of ours may be won. */
  rivalHolds = false;
  /** An extension that was sent after the rival had been granted was won: two holders. */
  isBroken = false;
  readonly #sockets: Waiting[][];
  readonly #electorate: Electorate;
  readonly #rounds = new Map<number, RoundState>();

  constructor(nodeCount: number, start: Start) {
    this.nodeCount = nodeCount;
    this.quorum = quorumOf(nodeCount);
    this.#electorate = new Electorate(nodeCount, this.quorum);
    const last = nodeCount - 1;
    this.keys = Array.from({ length: nodeCount }, (_, node) =>
      node === last && start === "one has never got it" ? "absent" : "ours",
    );
    this.#sockets = this.keys.map(() => []);
    for (let node = 0; node < nodeCount; node += 1) {
      if (node < last || start === "all granted") this.#electorate.acquireAnswered(node, true, true);
      else if (start === "one grant is late") this.#socket(node).push({ is: "acquire reply" });
    }
  }

  get isLost(): boolean {
    return this.#electorate.isLost;
  }

  /** Nodes with something in their socket. */
  get waiting(): number[] {
    return this.#sockets.flatMap((socket, node) => (socket.length > 0 ? [node] : []));
  }

  get absent(): number[] {
    return this.keys.flatMap((key, node) => (key === "absent" ? [node] : []));
  }

  /** Who votes in the next round; looked up on the way, so it counts as a round. */
  voters(): number[] {
    this.#electorate.openRound();
    return [...this.#electorate.voters];
  }

  apply(event: Event): void {
    switch (event.is) {
      case "flush":
        this.keys[event.node] = "absent";
        return;
      case "rival":
        for (const node of event.nodes) this.keys[node] = "rival";
        this.rivalHolds = true;
        return;
      case "round":
        this.#extend(event.silent);
        return;
      case "deliver":
        this.#deliver(event.node);
        return;
    }
  }

  #extend(silent: readonly number[]): void {
    const { voters } = this.#electorate;
    const round = this.#electorate.openRound();
    this.#rounds.set(round, {
      voters,
      isAfterRival: this.rivalHolds,
      answers: new Map(),
      isWon: false,
    });
    for (const socket of this.#sockets) socket.push({ is: "extend", round });
    for (const [node, socket] of this.#sockets.entries()) {
      if (!silent.includes(node)) while (socket.length > 0) this.#deliver(node);
    }
  }

  #deliver(node: number): void {
    const waiting = this.#socket(node).shift();
    if (waiting === undefined || this.isLost) return;
    if (waiting.is === "acquire reply") this.#electorate.acquireAnswered(node, true, true);
    else if (waiting.is === "repair") this.#repair(node);
    else this.#extendOn(node, waiting.round);
  }

  /** SET NX with our token. */
  #repair(node: number): void {
    if (this.keys[node] === "absent") this.keys[node] = "ours";
    if (this.keys[node] === "ours") this.#electorate.repaired(node);
  }

  #extendOn(node: number, ordinal: number): void {
    const round = this.#rounds.get(ordinal);
    const found = this.keys[node];
    if (round === undefined || found === undefined) throw new Error(`round ${ordinal} was never sent to node ${node}`);
    round.answers.set(node, found);
    const wasWon = round.isWon;
    const voters = [...round.voters].filter((voter) => round.answers.get(voter) === "ours");
    round.isWon = voters.length >= this.quorum;
    if (round.isWon && round.isAfterRival) this.isBroken = true;
    this.#hear(node, found, ordinal, round.isWon);
    // As the lock does it: what was answered before the verdict is told again when the round is won.
    if (round.isWon && !wasWon) for (const [each, answer] of round.answers) this.#hear(each, answer, ordinal, true);
  }

  #hear(node: number, found: Key, ordinal: number, isWon: boolean): void {
    if (found === "ours") {
      this.#electorate.extendGranted(node, ordinal, isWon);
      return;
    }
    this.#electorate.extendDenied(node);
    const isUnderRepair = this.#socket(node).some(({ is }) => is === "repair");
    if (isWon && found === "absent" && !isUnderRepair) this.#socket(node).push({ is: "repair" });
  }

  #socket(node: number): Waiting[] {
    const socket = this.#sockets[node];
    if (socket === undefined) throw new RangeError(`no node ${node} of ${this.nodeCount}`);
    return socket;
  }
}

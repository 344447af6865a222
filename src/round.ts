import { type Ballot, type Tally, tally, type Verdict, verdictOn } from "./core/tally.js";
import { validityLeftMs } from "./core/validity.js";
import { type Command, isVote, type LockNode, type NodeVote, type Vote } from "./node.js";
import { type Runtime, Stopwatch, type Timer } from "./runtime.js";

/** The nodes of a quorum, and the bounds that every round on them shares. */
export interface Quorum {
  readonly nodes: readonly LockNode[];
  /** How many votes win. */
  readonly size: number;
  readonly driftFactor: number;
  readonly runtime: Runtime;
}

export interface RoundOptions {
  /** How long the round listens, ms. */
  readonly timeoutMs: number;
  /** Whose votes count; the others are sent the command all the same. Default: all. */
  readonly voters?: ReadonlySet<number>;
  /** Hears every vote, those that arrive after the verdict too. */
  readonly onVote?: (node: number, vote: Vote) => void;
  /** Every node has answered, or the deadline has passed. */
  readonly onOver?: () => void;
}

/**
 * One command to all nodes, in parallel: the only fan-out. It settles at the first certain verdict or at its deadline,
 * never later; answers that come after that are still heard, for each says what a node holds.
 */
export class Round {
  readonly stopwatch: Stopwatch;
  /** Settles at the verdict. Never rejects. */
  readonly settled: Promise<Exclude<Verdict, "undecided">>;

  readonly #quorum: Quorum;
  readonly #command: Command;
  readonly #options: RoundOptions;
  readonly #answers: (Vote | undefined)[];
  readonly #elapsedMs: number[];
  readonly #tally: Tally;
  readonly #deadline: Timer;
  #pending: number;
  #isOver = false;
  #verdict: Verdict = "undecided";
  #settle!: (verdict: Exclude<Verdict, "undecided">) => void;
  #complete: Promise<void> | undefined;
  #finish: (() => void) | undefined;

  constructor(quorum: Quorum, command: Command, options: RoundOptions) {
    const { nodes, runtime } = quorum;
    this.#quorum = quorum;
    this.#command = command;
    this.#options = options;
    this.#answers = new Array(nodes.length).fill(undefined);
    this.#elapsedMs = new Array(nodes.length).fill(0);
    this.#tally = tally(new Array<Ballot>(options.voters?.size ?? nodes.length).fill(undefined));
    this.#pending = nodes.length;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    // The clock starts before the first command leaves: what a node holds ends no earlier than counted from here.
    this.stopwatch = new Stopwatch(runtime);
    this.#deadline = runtime.setTimer(options.timeoutMs, () => runtime.afterArrivals(() => this.#end()));
    for (const [node, lockNode] of nodes.entries()) {
      ask(lockNode, command, options.timeoutMs, (vote) => this.#hear(node, vote));
    }
  }

  /** Every node has answered, or the deadline has passed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get verdict(): Verdict {
    return this.#verdict;
  }

  /** Settles when every node has answered, or at the deadline. Never rejects. */
  get complete(): Promise<void> {
    this.#complete ??= new Promise((resolve) => {
      if (this.#isOver) resolve();
      else this.#finish = resolve;
    });
    return this.#complete;
  }

  /** The bare answers up to now, by node. */
  get answers(): readonly (Vote | undefined)[] {
    return this.#answers;
  }

  /** What each node has answered up to now, as errors and results tell it. */
  votes(): readonly NodeVote[] {
    return this.#quorum.nodes.map(({ name }, node) => {
      const answer = this.#answers[node];
      if (answer !== undefined) return { ...answer, name, elapsedMs: this.#elapsedMs[node] ?? 0 };
      const elapsedMs = this.stopwatch.elapsedMs();
      if (!this.#isOver) return { vote: "unknown", reason: "pending", message: "no answer yet", name, elapsedMs };
      const message = `timed out after ${Math.round(this.#options.timeoutMs)} ms`;
      return { vote: "unknown", reason: "timeout", message, name, elapsedMs };
    });
  }

  /** Whose votes count; undefined: all. */
  get voters(): ReadonlySet<number> | undefined {
    return this.#options.voters;
  }

  /** What is left of the validity that this round gives, ms. */
  validityLeftMs(): number {
    return this.#validityLeftMs(this.stopwatch.elapsedMs());
  }

  #hear(node: number, vote: Vote): void {
    const elapsedMs = this.stopwatch.elapsedMs();
    if (this.#answers[node] === undefined) this.#pending -= 1;
    this.#answers[node] = vote;
    this.#elapsedMs[node] = elapsedMs;
    // After the deadline it has been counted as silent, and the verdict has fallen.
    if (!this.#isOver && this.#options.voters?.has(node) !== false) {
      this.#tally.pending -= 1;
      this.#tally[vote.vote] += 1;
    }
    this.#options.onVote?.(node, vote);
    this.#decide(elapsedMs);
    if (this.#pending === 0) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline.cancel();
    this.#tally.unknown += this.#tally.pending;
    this.#tally.pending = 0;
    this.#decide(this.stopwatch.elapsedMs());
    this.#finish?.();
    this.#options.onOver?.();
  }

  #decide(elapsedMs: number): void {
    if (this.#verdict !== "undecided") return;
    const verdict = verdictOn(this.#tally, this.#quorum.size, this.#validityLeftMs(elapsedMs));
    this.#verdict = verdict;
    if (verdict !== "undecided") this.#settle(verdict);
  }

  #validityLeftMs(elapsedMs: number): number {
    if (this.#command.kind === "release" || this.#command.kind === "inspect") return Number.POSITIVE_INFINITY;
    return validityLeftMs(this.#command.ttlMs, elapsedMs, this.#quorum.driftFactor);
  }
}

/** Nodes vote and never reject; one written by a user might, and must not take the other nodes' answers with it. */
export function ask(node: LockNode, command: Command, timeoutMs: number, hear: (vote: Vote) => void): void {
  const fail = (cause: unknown) =>
    hear({ vote: "unknown", reason: "refused", message: `send() failed: ${String(cause)}`, cause });
  try {
    Promise.resolve(node.send(command, timeoutMs)).then((vote) => hear(asVote(vote)), fail);
  } catch (cause) {
    void Promise.resolve().then(() => fail(cause));
  }
}

function asVote(answer: unknown): Vote {
  if (isVote(answer)) return answer;
  return { vote: "unknown", reason: "refused", message: `send() answered with no vote: ${JSON.stringify(answer)}` };
}

import { tally, type Verdict, verdictOn } from "./core/tally.js";
import { validityLeftMs } from "./core/validity.js";
import { type Command, isVote, type LockNode, type NodeVote, type Vote } from "./node.js";
import { type Runtime, Stopwatch } from "./runtime.js";

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
}

export interface Outcome {
  readonly verdict: Exclude<Verdict, "undecided">;
  /** What the nodes had answered when the verdict fell. */
  readonly votes: readonly NodeVote[];
}

/**
 * One command to all nodes, in parallel: the only fan-out. It settles at the first certain verdict or at its deadline,
 * never later; answers that come after that are still heard, for each says what a node holds.
 */
export class Round {
  readonly stopwatch: Stopwatch;
  /** Settles at the verdict. Never rejects. */
  readonly settled: Promise<Outcome>;
  /** Settles when every node has answered, or at the deadline. Never rejects. */
  readonly complete: Promise<void>;

  readonly #quorum: Quorum;
  readonly #command: Command;
  readonly #options: RoundOptions;
  readonly #answers: (NodeVote | undefined)[];
  #isOver = false;
  #verdict: Verdict = "undecided";
  #settle!: (outcome: Outcome) => void;
  #finish!: () => void;

  constructor(quorum: Quorum, command: Command, options: RoundOptions) {
    this.#quorum = quorum;
    this.#command = command;
    this.#options = options;
    this.#answers = quorum.nodes.map(() => undefined);
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.complete = new Promise((resolve) => {
      this.#finish = resolve;
    });
    // The clock starts before the first command leaves: what a node holds ends no earlier than counted from here.
    this.stopwatch = new Stopwatch(quorum.runtime);
    const deadline = quorum.runtime.setTimer(options.timeoutMs, () => quorum.runtime.afterArrivals(() => this.#end()));
    void this.complete.then(() => deadline.cancel());
    for (const [node, lockNode] of quorum.nodes.entries()) {
      void ask(lockNode, command, options.timeoutMs).then((vote) => this.#hear(node, vote));
    }
  }

  /** Every node has answered, or the deadline has passed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get verdict(): Verdict {
    return this.#verdict;
  }

  /** What each node has answered up to now. */
  votes(): readonly NodeVote[] {
    return this.#quorum.nodes.map(({ name }, node) => {
      const answer = this.#answers[node];
      if (answer !== undefined) return answer;
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
    if (this.#command.kind === "release" || this.#command.kind === "inspect") return Number.POSITIVE_INFINITY;
    return validityLeftMs(this.#command.ttlMs, this.stopwatch.elapsedMs(), this.#quorum.driftFactor);
  }

  #hear(node: number, vote: Vote): void {
    const { name } = this.#quorum.nodes[node] as LockNode;
    this.#answers[node] = { ...vote, name, elapsedMs: this.stopwatch.elapsedMs() };
    this.#options.onVote?.(node, vote);
    this.#decide();
    if (!this.#answers.includes(undefined)) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decide();
    this.#finish();
  }

  #decide(): void {
    if (this.#verdict !== "undecided") return;
    const verdict = verdictOn(tally(this.#ballots()), this.#quorum.size, this.validityLeftMs());
    if (verdict === "undecided") return;
    this.#verdict = verdict;
    this.#settle({ verdict, votes: this.votes() });
  }

  *#ballots() {
    for (const [node, answer] of this.#answers.entries()) {
      if (this.#options.voters?.has(node) === false) continue;
      yield answer === undefined && this.#isOver ? "unknown" : answer?.vote;
    }
  }
}

/** Nodes vote and never reject; one written by a user might, and must not take the other nodes' answers with it. */
export async function ask(node: LockNode, command: Command, timeoutMs: number): Promise<Vote> {
  try {
    const vote: unknown = await node.send(command, timeoutMs);
    if (isVote(vote)) return vote;
    return { vote: "unknown", reason: "refused", message: `send() answered with no vote: ${JSON.stringify(vote)}` };
  } catch (cause) {
    return { vote: "unknown", reason: "refused", message: `send() failed: ${String(cause)}`, cause };
  }
}

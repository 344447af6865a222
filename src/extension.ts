import { Electorate } from "./core/electorate.js";
import { publishBackground } from "./diagnostics.js";
import { QuorumUnreachableError } from "./errors.js";
import { describeVotes } from "./messages.js";
import type { NodeVote, Vote } from "./node.js";
import { ask, type Quorum, Round } from "./round.js";
import { Stopwatch } from "./runtime.js";

export interface ExtensionOptions {
  readonly quorum: Quorum;
  readonly nodeTimeoutMs: number;
  readonly resources: readonly string[];
  readonly token: string;
  /** Once it is not held any more nothing is concluded from answers, and nothing is written. */
  isHeld(): boolean;
  /** The voters that still hold the keys are no quorum. */
  onLost(answers: Answers): void;
  onRepaired(): void;
}

/** What the nodes answered in a round, and whose votes counted in it. */
export interface Answers {
  readonly votes: readonly NodeVote[];
  readonly voters: ReadonlySet<number>;
}

const NO_VOTES: readonly NodeVote[] = [];

/** How one lock is prolonged: its extend rounds, the nodes that count in them, and the repair of those that lost the keys. */
export class Extension {
  readonly #options: ExtensionOptions;
  readonly #electorate: Electorate;
  /** Repairs that have not been answered, by node. */
  readonly #repairing = new Map<number, Stopwatch>();
  #undecided: Answers | undefined;

  constructor(options: ExtensionOptions) {
    this.#options = options;
    this.#electorate = new Electorate(options.quorum.nodes.length, options.quorum.size);
  }

  /** The nodes whose votes count now. */
  get voters(): ReadonlySet<number> {
    return this.#electorate.voters;
  }

  /** The last round, if it stayed undecided. */
  get undecided(): Answers | undefined {
    return this.#undecided;
  }

  /** Hears the answers to the acquire, those that came after it was won too. */
  acquireAnswered(node: number, { vote }: Vote, isInTime: boolean): void {
    if (vote !== "unknown") this.#electorate.acquireAnswered(node, vote === "granted", isInTime);
  }

  /**
   * One round. Resolves when it was won, or when the lock ended meanwhile.
   *
   * @throws QuorumUnreachableError when it stayed undecided
   */
  async extend(ttlMs: number): Promise<Round> {
    const { quorum, resources, token, isHeld } = this.#options;
    const { voters } = this.#electorate;
    const ordinal = this.#electorate.openRound();
    const round: Round = new Round(
      quorum,
      { kind: "extend", keys: resources, token, ttlMs },
      {
        timeoutMs: this.#timeoutMs(ttlMs),
        voters,
        onVote: (node, vote) => this.#answered(node, vote, ordinal, round, ttlMs),
      },
    );
    const verdict = await round.settled;
    if (!isHeld()) return round;
    const votes = verdict === "won" ? NO_VOTES : round.votes();
    this.#undecided = verdict === "won" ? undefined : { votes, voters };
    if (verdict !== "won") {
      const message = describeVotes(resources, votes, quorum.size, undefined, voters);
      throw new QuorumUnreachableError(message, { resources, votes });
    }
    for (const [node, vote] of round.answers.entries()) {
      if (vote !== undefined) this.#answered(node, vote, ordinal, round, ttlMs);
    }
    return round;
  }

  /** Called for each answer as it comes, and once more when the round is won: only then is it known what follows from it. */
  #answered(node: number, vote: Vote, ordinal: number, round: Round, ttlMs: number): void {
    if (!this.#options.isHeld()) return;
    const isWon = round.verdict === "won";
    if (vote.vote === "granted") this.#electorate.extendGranted(node, ordinal, isWon);
    if (vote.vote !== "denied") return;
    this.#electorate.extendDenied(node);
    if (this.#electorate.isLost) this.#options.onLost({ votes: round.votes(), voters: round.voters ?? this.voters });
    else if (isWon && vote.found.key === "absent" && this.#electorate.mayRepair(node)) void this.#repair(node, ttlMs);
  }

  /** Sets the key again on a node that lost it: for availability only, the node does not count for that. */
  async #repair(node: number, ttlMs: number): Promise<void> {
    const { quorum, resources, token, isHeld, onRepaired } = this.#options;
    const lockNode = quorum.nodes[node];
    const timeoutMs = this.#timeoutMs(ttlMs);
    const underWay = this.#repairing.get(node);
    if (lockNode === undefined || (underWay !== undefined && underWay.elapsedMs() < timeoutMs)) return;
    const stopwatch = new Stopwatch(quorum.runtime);
    this.#repairing.set(node, stopwatch);
    const vote = await new Promise<Vote>((hear) =>
      ask(lockNode, { kind: "repair", keys: resources, token, ttlMs }, timeoutMs, hear),
    );
    if (this.#repairing.get(node) === stopwatch) this.#repairing.delete(node);
    if (!isHeld()) return;
    if (vote.vote === "granted") {
      this.#electorate.repaired(node);
      onRepaired();
    } else publishBackground(() => ({ resources, command: "repair", node: lockNode.name, vote }));
  }

  /** A silent node cannot use up the validity. */
  #timeoutMs(ttlMs: number): number {
    return Math.min(this.#options.nodeTimeoutMs, ttlMs / 4);
  }
}

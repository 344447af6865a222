import { Electorate } from "./core/electorate.js";
import { publishBackground } from "./diagnostics.js";
import { QuorumUnreachableError } from "./errors.js";
import { describeVotes } from "./messages.js";
import type { NodeVote, Vote } from "./node.js";
import { ask, type Quorum, Round } from "./round.js";
import { Stopwatch } from "./runtime.js";

/** The lock that is prolonged. */
export interface Prolonged {
  readonly resources: readonly string[];
  readonly token: string;
  /** Then nothing is concluded from answers any more, and nothing is written. */
  readonly hasEnded: boolean;
  /** The voters that still hold the keys are no quorum. */
  keysGone(answers: Answers): void;
  keysRepaired(): void;
}

/** What the nodes answered in a round, and whose votes counted in it. */
export interface Answers {
  readonly votes: readonly NodeVote[];
  readonly voters: ReadonlySet<number>;
}

const NO_VOTES: readonly NodeVote[] = [];

/** How one lock is prolonged: its extend rounds, the nodes that count in them, and the repair of those that lost the keys. */
export class Extension {
  readonly #lock: Prolonged;
  readonly #quorum: Quorum;
  readonly #nodeTimeoutMs: number;
  readonly #electorate: Electorate;
  /** Repairs that have not been answered, by node. Most locks never need one. */
  #repairing: Map<number, Stopwatch> | undefined;
  #undecided: Answers | undefined;

  constructor(lock: Prolonged, { quorum, nodeTimeoutMs }: { quorum: Quorum; nodeTimeoutMs: number }) {
    this.#lock = lock;
    this.#quorum = quorum;
    this.#nodeTimeoutMs = nodeTimeoutMs;
    this.#electorate = new Electorate(quorum.nodes.length, quorum.size);
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
    const { resources, token } = this.#lock;
    const quorum = this.#quorum;
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
    if (this.#lock.hasEnded) return round;
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
    if (this.#lock.hasEnded) return;
    const isWon = round.verdict === "won";
    if (vote.vote === "granted") this.#electorate.extendGranted(node, ordinal, isWon);
    if (vote.vote !== "denied") return;
    this.#electorate.extendDenied(node);
    if (this.#electorate.isLost) this.#lock.keysGone({ votes: round.votes(), voters: round.voters ?? this.voters });
    else if (isWon && vote.found.key === "absent" && this.#electorate.mayRepair(node)) void this.#repair(node, ttlMs);
  }

  /** Sets the key again on a node that lost it: for availability only, the node does not count for that. */
  async #repair(node: number, ttlMs: number): Promise<void> {
    const { resources, token } = this.#lock;
    const lockNode = this.#quorum.nodes[node];
    const timeoutMs = this.#timeoutMs(ttlMs);
    const underWay = this.#repairing?.get(node);
    if (lockNode === undefined || (underWay !== undefined && underWay.elapsedMs() < timeoutMs)) return;
    const stopwatch = new Stopwatch(this.#quorum.runtime);
    this.#repairing ??= new Map();
    this.#repairing.set(node, stopwatch);
    const vote = await new Promise<Vote>((hear) =>
      ask(lockNode, { kind: "repair", keys: resources, token, ttlMs }, timeoutMs, hear),
    );
    if (this.#repairing.get(node) === stopwatch) this.#repairing.delete(node);
    if (this.#lock.hasEnded) return;
    if (vote.vote === "granted") {
      this.#electorate.repaired(node);
      this.#lock.keysRepaired();
    } else publishBackground(() => ({ resources, command: "repair", node: lockNode.name, vote }));
  }

  /** A silent node cannot use up the validity. */
  #timeoutMs(ttlMs: number): number {
    return Math.min(this.#nodeTimeoutMs, ttlMs / 4);
  }
}

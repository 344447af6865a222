import { publishBackground } from "./diagnostics.js";
import type { NodeVote } from "./node.js";
import { type Quorum, Round } from "./round.js";

/**
 * Releases on all nodes, and remembers which of them are still under way: `close()` waits for those, callers never have to.
 */
export class Cleanup {
  readonly #quorum: Quorum;
  readonly #timeoutMs: number;
  readonly #underWay = new Set<Round>();

  constructor(quorum: Quorum, timeoutMs: number) {
    this.#quorum = quorum;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Deletes the token's keys on every node, whatever the nodes answered before: a node that denied or stayed silent may hold
   * the key all the same. On a node's connection this follows the command that set the key.
   *
   * @param ttlMs how long a key of this token may live
   */
  release(keys: readonly string[], token: string, ttlMs: number): Round {
    const round: Round = new Round(
      this.#quorum,
      { kind: "release", keys, token, ttlMs },
      {
        timeoutMs: this.#timeoutMs,
        onOver: () => {
          this.#underWay.delete(round);
          for (const [node, vote] of round.answers.entries()) {
            if (vote === undefined || vote.vote === "unknown") report(keys, round, node);
          }
        },
      },
    );
    this.#underWay.add(round);
    return round;
  }

  /** Settles when every release has been answered or given up: at the latest after one node timeout. */
  async idle(): Promise<void> {
    await Promise.all([...this.#underWay].map((round) => round.complete));
  }
}

function report(resources: readonly string[], round: Round, node: number): void {
  publishBackground(() => {
    const vote = round.votes()[node] as NodeVote;
    return { resources, command: "release", node: vote.name, vote };
  });
}

/**
 * Which nodes count for one held lock.
 *
 * The rules were found by exhaustive search on small models; two of them look over-careful and are not. Counting a key that
 * was re-created, or repairing a node and counting it in the very next round, gives two holders within three events: while
 * the key was absent another client may have been granted, and may have extended since.
 *
 * Pure: it is fed with votes and with the ordinal number of the round that they belong to.
 */

/**
 * - `unheard`: has not answered the acquire; whether it holds our key is not known.
 * - `voting`: holds our key without a gap since it granted.
 * - `out`: answered that the key is absent or another's.
 * - `confirmed`: was seen to hold our key again, after the rounds up to `afterRound` had been sent.
 */
type Standing =
  | { readonly is: "unheard" }
  | { readonly is: "voting" }
  | { readonly is: "out" }
  | { readonly is: "confirmed"; readonly afterRound: number };

const UNHEARD: Standing = { is: "unheard" };
const VOTING: Standing = { is: "voting" };
const OUT: Standing = { is: "out" };

export class Electorate {
  readonly #quorum: number;
  readonly #standings: Standing[];
  #lastRound = 0;

  constructor(nodeCount: number, quorum: number) {
    this.#quorum = quorum;
    this.#standings = new Array(nodeCount).fill(UNHEARD);
  }

  /** The nodes that count. */
  get voters(): ReadonlySet<number> {
    const voters = new Set<number>();
    for (const [node, standing] of this.#standings.entries()) if (standing.is === "voting") voters.add(node);
    return voters;
  }

  /** A round is about to be sent to the voters of now: its number. */
  openRound(): number {
    this.#lastRound += 1;
    return this.#lastRound;
  }

  /** The voters that still hold the key cannot make a quorum any more, whatever the silent ones would say. */
  get isLost(): boolean {
    return this.voters.size < this.#quorum;
  }

  /**
   * An answer to the acquire. A grant of the slowest nodes comes when the lock has long been handed over, and counts. One that
   * comes after the round's deadline may have been carried out just now: like a key that was set again, it does not count at once.
   */
  acquireAnswered(node: number, granted: boolean, isInTime: boolean): void {
    if (this.#standings[node]?.is !== "unheard") return;
    if (!granted) this.#standings[node] = OUT;
    else if (isInTime) this.#standings[node] = VOTING;
    else this.#confirm(node);
  }

  /** Only a node that does not count may be given its key again: for one that does, a gap would go unseen. */
  mayRepair(node: number): boolean {
    return this.#standings[node]?.is === "out";
  }

  /** The key was set again on a node where it was absent. */
  repaired(node: number): void {
    this.#confirm(node);
  }

  /** A node answered an extension that its key is absent or another's. */
  extendDenied(node: number): void {
    this.#standings[node] = OUT;
  }

  /** A node found our key and extended it; `wonWithoutIt` once that round is won by the votes of others. */
  extendGranted(node: number, round: number, wonWithoutIt: boolean): void {
    const standing = this.#standings[node];
    if (standing?.is === "confirmed") {
      if (wonWithoutIt && round > standing.afterRound) this.#standings[node] = VOTING;
    } else if (standing?.is !== "voting") this.#confirm(node);
  }

  #confirm(node: number): void {
    if (this.#standings[node]?.is === "voting") return;
    this.#standings[node] = { is: "confirmed", afterRound: this.#lastRound };
  }
}

/** Something that is going to happen. */
export interface Occurrence {
  readonly atMs: number;
  readonly order: number;
  /** Undefined once it has been cancelled. */
  run: (() => void) | undefined;
}

/** What is going to happen, soonest first; what happens at one time happens in the order in which it was added. A binary heap. */
export class Queue {
  readonly #heap: Occurrence[] = [];
  #added = 0;

  add(atMs: number, run: () => void): Occurrence {
    const occurrence = { atMs, order: this.#added, run };
    this.#added += 1;
    this.#rise(this.#heap.length, occurrence);
    return occurrence;
  }

  /** The next one, unless it is later than `untilMs`. */
  take(untilMs: number): Occurrence | undefined {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs; next = this.#heap[0]) {
      const last = this.#heap.pop() as Occurrence;
      if (last !== next) this.#sink(last);
      if (next.run !== undefined) return next;
    }
    return undefined;
  }

  #rise(from: number, occurrence: Occurrence): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex] as Occurrence;
      if (isBefore(parent, occurrence)) break;
      this.#heap[index] = parent;
      index = parentIndex;
    }
    this.#heap[index] = occurrence;
  }

  /** Puts an occurrence in the place of the first, and lets it sink to where it belongs. */
  #sink(occurrence: Occurrence): void {
    const { length } = this.#heap;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= length) break;
      let child = this.#heap[childIndex] as Occurrence;
      const sibling = this.#heap[childIndex + 1];
      if (sibling !== undefined && isBefore(sibling, child)) {
        child = sibling;
        childIndex += 1;
      }
      if (isBefore(occurrence, child)) break;
      this.#heap[index] = child;
      index = childIndex;
    }
    this.#heap[index] = occurrence;
  }
}

function isBefore(one: Occurrence, other: Occurrence): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/**
 * Numbers that only look random: a seed gives the same ones again, on every machine. sfc32, started by splitmix32.
 *
 * Each part of the world draws from a stream of its own, so that taking one fault away leaves the rest of a run much as it was:
 * that is what makes failing runs small.
 */
export class Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed a safe integer; all of its 53 bits count */
  constructor(seed: number, stream = 0) {
    const next = splitmix32(((seed % 2 ** 32) ^ Math.imul(stream + 1, 0x9e3779b1)) >>> 0);
    this.#a = next();
    this.#b = (next() ^ Math.floor(seed / 2 ** 32)) >>> 0;
    this.#c = next();
    for (let round = 0; round < 12; round += 1) this.random();
  }

  /** In [0, 1). A member that can be passed on by itself. */
  random = (): number => {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };

  happens(probability: number): boolean {
    return this.random() < probability;
  }

  between(min: number, max: number): number {
    return min + (max - min) * this.random();
  }

  /** A whole number from `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor((max - min + 1) * this.random());
  }

  /** Spread evenly over the orders of magnitude. */
  magnitude(min: number, max: number): number {
    return min * (max / min) ** this.random();
  }

  /** Of a memoryless process: most are short, a few are very long. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.random());
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(choices.length * this.random())];
    if (choice === undefined) throw new RangeError("nothing to choose from");
    return choice;
  }

  /** A key, as likely as its number says in relation to the others. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries(weights) as [Key, number][];
    let left = this.random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries.at(-1) as [Key, number])[0];
  }

  shuffled<T>(list: readonly T[]): T[] {
    const shuffled = [...list];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.whole(0, last);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }
}

function splitmix32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

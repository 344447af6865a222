import type { Patience } from "./patience.js";

/** Bounds how many of something are under way: the others wait in the order of their coming, as long as their patience lasts. */
export class Admission {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(size: number) {
    this.#free = size;
  }

  /** @returns whether it was admitted: then it has to `leave()` */
  async enter(patience: Patience, withinMs?: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    let isIn = false;
    let admit = () => {};
    const turn = new Promise<void>((resolve) => {
      admit = () => {
        isIn = true;
        resolve();
      };
    });
    this.#waiting.add(admit);
    await patience.until(turn, withinMs);
    this.#waiting.delete(admit);
    return isIn;
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

import type { Machine } from "./machine.ts";

/** Tells the callers of one process when to stop. */
export class Curfew {
  readonly #machine: Machine;
  readonly #wakers = new Set<() => void>();
  #hasBegun = false;
  #isAbrupt = false;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Nothing new is begun. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** And what is under way is given up. */
  get isAbrupt(): boolean {
    return this.#isAbrupt;
  }

  begin({ isAbrupt }: { isAbrupt: boolean }): void {
    this.#hasBegun = true;
    this.#isAbrupt = isAbrupt;
    if (!isAbrupt) return;
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }

  /** Calls back when work is to be given up, unless it is disposed of before. */
  onAbrupt(callback: () => void): Disposable {
    this.#wakers.add(callback);
    return { [Symbol.dispose]: () => void this.#wakers.delete(callback) };
  }

  sleep(delayMs: number): Promise<void> {
    if (this.#isAbrupt) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        timer.cancel();
        this.#wakers.delete(wake);
        resolve();
      };
      const timer = this.#machine.setTimer(delayMs, wake);
      this.#wakers.add(wake);
    });
  }
}

import type { Runtime } from "../runtime.js";

/** Holds callers back while it is closed, each for as long as it can wait; the first who cannot wait any longer opens it for all. */
export class Gate {
  readonly #runtime: Pick<Runtime, "setTimer">;
  #opening: Promise<void> | undefined;
  #open = () => {};

  constructor(runtime: Pick<Runtime, "setTimer">) {
    this.#runtime = runtime;
  }

  get isClosed(): boolean {
    return this.#opening !== undefined;
  }

  close(): void {
    this.#opening ??= new Promise((resolve) => {
      this.#open = () => {
        this.#opening = undefined;
        resolve();
      };
    });
  }

  open(): void {
    this.#open();
  }

  /** Resolves when it is open, at the latest after so long. */
  async pass(withinMs: number): Promise<void> {
    if (this.#opening === undefined) return;
    const timer = this.#runtime.setTimer(withinMs, () => this.open());
    await this.#opening;
    timer.cancel();
  }
}

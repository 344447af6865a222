import type { Lock } from "../../src/index.ts";
import { type Journal, nowMs } from "./history.ts";
import type { SharedFile } from "./shared-file.ts";

export interface Grant {
  readonly lock: Lock;
  /** The call that got it. */
  readonly call: number;
  readonly ttlMs: number;
  readonly isAutoExtended: boolean;
}

/** What a clock that was read before the library's own may say less of a validity. */
const GROWTH_MS = 1;

/** One holder, from the hand-over until it leaves: works under the lock and writes down what the library tells it. */
export class Stay {
  readonly #lock: Lock;
  readonly #files: readonly SharedFile[];
  readonly #resources: readonly string[];
  readonly #journal: Journal;
  #validUntilMs: number;
  #hasEnded = false;

  /** @param files one for each of the lock's resources */
  constructor({ lock, call, ttlMs, isAutoExtended }: Grant, files: readonly SharedFile[], journal: Journal) {
    const { token, resources } = lock;
    this.#lock = lock;
    this.#files = files;
    this.#resources = resources;
    this.#journal = journal;
    // The clock first: a validity that is taken for shorter than it is accuses nobody wrongly.
    const atMs = nowMs();
    const validUntilMs = atMs + lock.remainingMs();
    this.#validUntilMs = validUntilMs;
    journal.write({ is: "granted", call, token, resources, ttlMs, isAutoExtended, validUntilMs }, atMs);
    lock.signal.addEventListener("abort", () => this.#note("signal", lock.signal.reason));
    if (lock.signal.aborted) this.#note("signal", lock.signal.reason);
  }

  enter(): void {
    const { token } = this.#lock;
    for (const [index, file] of this.#files.entries()) {
      const resource = this.#resources[index] as string;
      for (const other of file.enter(token)) this.#journal.write({ is: "met", token, resource, other });
    }
  }

  /** Reads each number, lets time pass, and writes each number plus one. @returns false when the lock is not held any more */
  async step(pass: () => Promise<unknown>): Promise<boolean> {
    const values = this.#files.map((file) => file.read());
    await pass();
    for (const [index, file] of this.#files.entries()) {
      const askedMs = nowMs();
      if (!this.#isHeld()) return false;
      this.#write(file, this.#resources[index] as string, (values[index] as number) + 1, askedMs);
    }
    return true;
  }

  /** An extension may have prolonged it. @param ttlMs of an extension by hand that has just been won */
  look(ttlMs?: number): void {
    if (this.#hasEnded) return;
    const atMs = nowMs();
    const leftMs = this.#lock.remainingMs();
    if (leftMs <= 0 || (ttlMs === undefined && atMs + leftMs <= this.#validUntilMs + GROWTH_MS)) return;
    this.#validUntilMs = Math.max(this.#validUntilMs, atMs + leftMs);
    const { token } = this.#lock;
    this.#journal.write(
      { is: "held", token, validUntilMs: this.#validUntilMs, ...(ttlMs === undefined ? {} : { ttlMs }) },
      atMs,
    );
  }

  /** The library reported an end of the lock. */
  lost(by: "extend" | "release", reason: unknown): void {
    this.#note(by, reason);
  }

  leave(): void {
    this.#hasEnded = true;
    this.#journal.write({ is: "left", token: this.#lock.token });
    for (const file of this.#files) file.leave(this.#lock.token);
  }

  #isHeld(): boolean {
    try {
      this.#lock.throwIfLost();
      this.look();
      return true;
    } catch (error) {
      this.#note("throwIfLost", error);
      return false;
    }
  }

  /**
   * The library was asked in the same turn of the event loop. Should the process be stopped in between all the same, no lock can
   * help, only a fencing token: the checker sees it by the times of both lines.
   */
  #write(file: SharedFile, resource: string, value: number, askedMs: number): void {
    const { token } = this.#lock;
    this.#journal.write({ is: "writing", token, resource, value, validUntilMs: this.#validUntilMs }, askedMs);
    file.write(value, token);
    this.#journal.write({ is: "written", token, resource, value });
  }

  #note(by: "signal" | "throwIfLost" | "extend" | "release", reason: unknown): void {
    const code = String((reason as { code?: unknown } | undefined)?.code ?? reason);
    this.#journal.write({ is: "lost", token: this.#lock.token, by, code });
  }
}

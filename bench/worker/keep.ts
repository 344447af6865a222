import { setTimeout as sleep } from "node:timers/promises";
import type { Kept, Library } from "../libraries/library.ts";
import { within } from "./limit.ts";
import { type KeepInput, type KeepReport, resourceName } from "./tasks.ts";

const CALLERS = 64;

/** Locks that are held and extended by themselves, and what that costs. */
export class Keeper {
  readonly #library: Library;
  readonly #kept: Kept[] = [];

  constructor(library: Library) {
    this.#library = library;
  }

  async keep({ count, ttlMs, limitMs }: KeepInput): Promise<KeepReport> {
    const before = await heapBytes();
    const startMs = performance.now();
    let next = 0;
    let failure: string | undefined;
    const call = async () => {
      while (next < count && performance.now() - startMs < limitMs) {
        try {
          const lock = await this.#library.keep?.(resourceName(next++), ttlMs);
          if (lock !== undefined) this.#kept.push(lock);
        } catch (error) {
          failure ??= String(error);
        }
      }
    };
    await within(limitMs, Promise.all(Array.from({ length: CALLERS }, call)));
    const tookMs = performance.now() - startMs;
    const acquired = this.#kept.length;
    return {
      acquired,
      tookMs,
      heapBytesPerLock: ((await heapBytes()) - before) / Math.max(1, acquired),
      ...(failure === undefined ? {} : { failure }),
    };
  }

  async watch(ms: number): Promise<{ cpuShare: number; held: number }> {
    const startMs = performance.now();
    const cpu = process.cpuUsage();
    await sleep(ms);
    const { user, system } = process.cpuUsage(cpu);
    const cpuShare = (user + system) / 1_000 / (performance.now() - startMs);
    return { cpuShare, held: this.#kept.filter((lock) => lock.isHeld()).length };
  }

  async letGo(limitMs: number): Promise<undefined> {
    const call = async () => {
      for (let lock = this.#kept.pop(); lock !== undefined; lock = this.#kept.pop())
        await lock.release().catch(() => {});
    };
    await within(limitMs, Promise.all(Array.from({ length: CALLERS }, call)));
    return undefined;
  }
}

/** What is in use, when all that is not has been collected: finalizers may take a second turn. */
async function heapBytes(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error("needs --expose-gc");
  for (let times = 0; times < 2; times++) {
    globalThis.gc();
    await sleep(1);
  }
  return process.memoryUsage().heapUsed;
}

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Lock, Redlock } from "../../src/index.ts";

/** What clients need of a Redlock. */
export type Locks = Pick<Redlock, "acquire" | "tryAcquire" | "using" | "inspect" | "close" | "nodes">;

const NEVER = new AbortController().signal;
const LATE_MS = 1_000;
const HOARDED_TTL_MS = 600_000;

/** Wrong ways to lock, each of which a run must find out. */
export const FLAWS = {
  /** Every acquire succeeds at once, without asking anybody. */
  bypass: (locks: Locks): Locks => ({
    ...methodsOf(locks),
    acquire: async (resources, ttlMs) => imaginedLock(resources, ttlMs),
    tryAcquire: async (resources, ttlMs) => imaginedLock(resources, ttlMs),
  }),
  /** The holder does not hear that its lock has ended. */
  deaf: (locks: Locks): Locks => withLocks(locks, (lock) => changed(lock, { remainingMs: () => 1_000, ...DEAF })),
  /** The signal never aborts. */
  mute: (locks: Locks): Locks => withLocks(locks, (lock) => changed(lock, { signal: NEVER })),
  /** An acquire that fails does so too late. */
  late: (locks: Locks): Locks => ({
    ...methodsOf(locks),
    acquire: (...args) =>
      locks.acquire(...args).catch(async (error) => {
        await sleep(LATE_MS);
        throw error;
      }),
  }),
  /** A lock that nobody is left to release. */
  hoard: (locks: Locks): Locks => ({
    ...methodsOf(locks),
    close: async () => {
      await locks.tryAcquire("hoarded", HOARDED_TTL_MS);
    },
  }),
} satisfies Record<string, (locks: Locks) => Locks>;

export type FlawName = keyof typeof FLAWS;

const DEAF = { isHeld: () => true, throwIfLost: () => {}, signal: NEVER };

function methodsOf(locks: Locks): Locks {
  return {
    acquire: (...args) => locks.acquire(...args),
    tryAcquire: (...args) => locks.tryAcquire(...args),
    using: (...args: Parameters<Locks["using"]>) => locks.using(...args),
    inspect: (resource) => locks.inspect(resource),
    close: () => locks.close(),
    get nodes() {
      return locks.nodes;
    },
  } as Locks;
}

function withLocks(locks: Locks, change: (lock: Lock) => Lock): Locks {
  return {
    ...methodsOf(locks),
    acquire: async (...args) => change(await locks.acquire(...args)),
  };
}

function changed(lock: Lock, changes: Partial<Lock>): Lock {
  return new Proxy(lock, {
    get: (target, name) => {
      if (name in changes) return changes[name as keyof Lock];
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function imaginedLock(resources: string | readonly string[], ttlMs: number): Lock {
  const endsAtMs = performance.now() + ttlMs;
  const leftMs = () => Math.max(0, endsAtMs - performance.now()) * 0.9;
  const release = async () => ({ status: "released" as const, votes: [] });
  return {
    resources: [resources].flat(),
    token: randomBytes(16).toString("hex"),
    signal: NEVER,
    validUntil: new Date(),
    isHeld: () => leftMs() > 0,
    remainingMs: leftMs,
    throwIfLost: () => {
      if (leftMs() === 0) throw new Error("over");
    },
    extend: async () => {},
    release,
    [Symbol.asyncDispose]: async () => {
      await release();
    },
  };
}

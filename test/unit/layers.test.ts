import { describe, expect, test } from "vitest";
import { parseSource, readSource, type Source, sourceFiles } from "../support/source.ts";

/** What must not be in `src/core`, and what to use instead. */
const BANNED_IN_CORE: Readonly<Record<string, string>> = {
  Date: "take the time as an argument (`elapsedMs`, `nowMs`)",
  performance: "take the time as an argument (`elapsedMs`, `nowMs`)",
  process: "take the time as an argument (`elapsedMs`, `nowMs`)",
  setTimeout: "return a delay, and let the caller wait with `Runtime.setTimer`",
  setInterval: "return a delay, and let the caller wait with `Runtime.setTimer`",
  setImmediate: "return, and let the caller wait with `Runtime.afterArrivals`",
  queueMicrotask: "return, and let the caller wait",
  Promise: "return a value; only what surrounds core waits",
  crypto: "take the token as an argument, from `Runtime.newToken`",
  "Math.random": "take the random number as an argument, from `Runtime.random`",
  ioredis: "let src/nodes talk to servers; core sees votes",
};

/** Imports run downwards only: each part of the code, and what it must not know of. */
const MUST_NOT_IMPORT: readonly { part: RegExp; mustNot: RegExp; why: string }[] = [
  { part: /^src\/core\//, mustNot: /^(?!src\/core\/)/, why: "core is pure: it imports nothing from outside" },
  {
    part: /^src\/round\.ts$/,
    mustNot: /^src\/(?!core\/|node\.ts|runtime\.ts|messages\.ts)|^(?!src\/)/,
    why: "the fan-out knows votes and verdicts, neither locks nor servers",
  },
  {
    part: /^src\/nodes\//,
    mustNot: /^src\/(redlock|lock|round|acquisition|cleanup|keeper|inspection|index)\.ts$/,
    why: "a node votes; what its votes are for is decided above it",
  },
  {
    part: /^src\/(node|runtime|messages|errors|options)\.ts$/,
    mustNot: /^src\/(nodes\/|redlock\.ts|lock\.ts|round\.ts)/,
    why: "what all share is at the bottom",
  },
  {
    part: /^src\/lock\.ts$/,
    mustNot: /^src\/(redlock\.ts|nodes\/)/,
    why: "a lock sees LockNode, not what is behind it",
  },
  { part: /^src\/testing\.ts$/, mustNot: /^(?!src\/nodes\/memory)/, why: "tests of users need no server's client" },
];

const sources = sourceFiles().map(readSource);

function bannedIn({ path, names }: Source): string[] {
  return Object.entries(BANNED_IN_CORE)
    .filter(([name]) => names.has(name))
    .map(([name, replacement]) => `${path}: ${name} is banned in core; ${replacement}`);
}

describe("src/core", () => {
  test("uses no clock, no timer, no chance, no server", () => {
    const core = sources.filter(({ path }) => path.startsWith("src/core/"));
    expect(core.length).toBeGreaterThan(3);
    expect(core.flatMap(bannedIn)).toEqual([]);
  });

  test.each([
    ["const nowMs = Date.now();", "Date"],
    ["const delayMs = Math.random() * 3;", "Math.random"],
    ["export const wait = () => setTimeout(go, 3);", "setTimeout"],
  ])("would be reported for: %s", (code, name) => {
    const [report] = bannedIn(parseSource("src/core/bad.ts", code));
    expect(report).toContain(`src/core/bad.ts: ${name} is banned in core; `);
  });

  test("is not reported for an argument, a comment or a string", () => {
    const code =
      '/** Date, setTimeout */ export const f = (random: number) => Math.floor(random) + "Date.now()".length;';
    expect(bannedIn(parseSource("src/core/good.ts", code))).toEqual([]);
  });
});

describe("imports run downwards", () => {
  const wrongImports = (among: readonly Source[]) =>
    MUST_NOT_IMPORT.flatMap(({ part, mustNot, why }) =>
      among
        .filter(({ path }) => part.test(path))
        .flatMap(({ path, imports }) =>
          imports.filter((from) => mustNot.test(from)).map((from) => `${path} → ${from}: ${why}`),
        ),
    );

  test("in every file", () => {
    expect(wrongImports(sources)).toEqual([]);
  });

  test.each([
    ["src/core/bad.ts", 'import { randomBytes } from "node:crypto";'],
    ["src/core/bad.ts", 'import type { Vote } from "../node.js";'],
    ["src/core/bad.ts", 'export * from "../node.js";'],
    ["src/core/bad.ts", 'const load = () => import("ioredis");'],
    ["src/round.ts", 'import { HeldLock } from "./lock.js";'],
    ["src/round.ts", 'import { Redis } from "ioredis";'],
    ["src/nodes/bad.ts", 'import { Round } from "../round.js";'],
    ["src/testing.ts", 'export { Redis } from "ioredis";'],
  ])("and would be reported: %s with %s", (path, code) => {
    expect(wrongImports([parseSource(path, code)])).toHaveLength(1);
  });

  test("only files in src/nodes import ioredis, and memory nodes do not", () => {
    const importers = sources.filter(({ imports }) => imports.some((from) => /^ioredis(\/|$)/.test(from)));
    for (const { path } of importers) expect(path).toMatch(/^src\/nodes\/(?!memory)/);
  });

  test("no file is reached from src/testing.ts that needs a package", () => {
    const byPath = new Map(sources.map((source) => [source.path, source]));
    const reached = new Set<string>();
    const reach = (path: string) => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const from of byPath.get(path)?.imports ?? []) reach(from);
    };
    reach("src/testing.ts");
    expect([...reached].filter((path) => !path.startsWith("src/") && !path.startsWith("node:"))).toEqual([]);
  });

  test("no file imports itself over others", () => {
    const byPath = new Map(sources.map((source) => [source.path, source]));
    const cycleFrom = (path: string, way: readonly string[]): readonly string[] | undefined => {
      if (way.includes(path)) return [...way, path];
      for (const from of byPath.get(path)?.imports ?? []) {
        const cycle = byPath.has(from) ? cycleFrom(from, [...way, path]) : undefined;
        if (cycle !== undefined) return cycle;
      }
      return undefined;
    };
    expect(sources.map(({ path }) => cycleFrom(path, [])).find((cycle) => cycle !== undefined)).toBeUndefined();
  });
});

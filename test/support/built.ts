import { execaNode } from "execa";

/**
 * The built package, as its users get it, for programs that are processes of their own. Its name is not a literal, so that the
 * types come from the sources and the compiler does not need the build.
 */
export function builtPackage(): Promise<typeof import("../../src/index.ts")> {
  return import(String("redlock-quorum"));
}

export function builtTesting(): Promise<typeof import("../../src/testing.ts")> {
  return import(String("redlock-quorum/testing"));
}

/** A limit, not a wait: a program that does not end by itself is a failure. */
const LIMIT_MS = 15_000;

/** Runs a program until it ends, and returns what it printed. */
export async function runProgram(program: URL, args: readonly string[] = []) {
  const { stdout, stderr, exitCode, timedOut } = await execaNode(program, args, {
    nodeOptions: ["--import", "tsx"],
    reject: false,
    timeout: LIMIT_MS,
  });
  return { stdout, stderr, exitCode, timedOut };
}

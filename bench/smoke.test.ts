import { fileURLToPath } from "node:url";
import { execaNode } from "execa";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
/** Of which an installation from the registry is the most. */
const LIMIT_MS = 180_000;

test("every bench runs, with every library, and finds what it checks as it has to be", {
  timeout: LIMIT_MS,
}, async () => {
  const { exitCode, all } = await execaNode(MAIN, ["--smoke"], {
    nodeOptions: ["--import", "tsx"],
    all: true,
    reject: false,
  });
  expect(exitCode, all).toBe(0);
});

import { fileURLToPath } from "node:url";
import { execaNode } from "execa";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

test("the demo, at its smallest, passes and reads well without a terminal, in CI too", async () => {
  const { exitCode, stdout } = await execaNode(MAIN, ["--seconds", "1.5", "--workers", "2"], {
    nodeOptions: ["--import", "tsx"],
    // In CI some libraries take every output for a terminal.
    env: { CI: "true" },
    reject: false,
  });
  expect(exitCode, stdout).toBe(0);
  expect(stdout).toContain("PASSED");
  expect(stdout).toMatch(/three dead: \d+ × ERR_QUORUM_UNREACHABLE, such as\n +".+": [0-2]\/5 granted, 3 needed/);
  const [, made, found] = /made by the workers: (\d+); found in the file: (\d+)/.exec(stdout) ?? [];
  expect(found).toBe(made);
  // Neither colours nor a moving cursor.
  expect(stdout).not.toContain("\u001b");
});

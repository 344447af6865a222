import { describe, expect, test } from "vitest";
import { startMasters } from "../fixture/masters.ts";
import { runProgram } from "../support/built.ts";
import { valuesOf } from "./support/keys.ts";

/** Programs of their own, which use the built package. */
const DEAF = new URL("children/deaf.ts", import.meta.url);
const BOTH_FORMATS = new URL("children/both-formats.ts", import.meta.url);
const ENDING = new URL("children/ending.ts", import.meta.url);

test("row 35: error events and a loss with nobody listening: the process lives", async () => {
  await using masters = await startMasters(1);
  const [, pid] = /process_id:(\d+)/.exec(String(await masters.at(0).admin("INFO", "server"))) ?? [];
  const { exitCode, stdout, stderr } = await runProgram(DEAF, [masters.at(0).url, String(pid)]);
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0, stdout: "alive" });
  expect(stderr).not.toMatch(/unhandled/i);
});

test("row 40: require() and import in one program know each other's errors", async () => {
  const { exitCode, stdout, stderr } = await runProgram(BOTH_FORMATS);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(JSON.parse(stdout)).toEqual({ twoCopies: true, recognised: Array(4).fill(true), others: [false, false] });
});

describe("a program ends by itself", () => {
  test.each(["close", "held", "memory"])("%s", async (how) => {
    await using masters = await startMasters(3);
    const { exitCode, stdout, timedOut } = await runProgram(ENDING, [how, ...masters.urls]);
    expect({ exitCode, stdout, timedOut }).toEqual({ exitCode: 0, stdout: "nothing left to do", timedOut: false });
    if (how === "close") expect(await valuesOf(masters, "ending")).toEqual([null, null, null]);
  });
});

test("P6: a program that waits for a lock hears the outcome, though nothing else keeps it alive", async () => {
  const { exitCode, stdout } = await runProgram(ENDING, ["waiting"]);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^LockHeldError: .*\nnothing left to do$/),
  });
});

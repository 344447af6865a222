import { afterAll, beforeAll, expect, test } from "vitest";
import { Redlock } from "../../src/index.ts";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { resourceName, valuesOf } from "./support/keys.ts";
import { failureOf, words } from "./support/outcome.ts";
import { untilNodes } from "./support/status.ts";

let masters: Masters;
beforeAll(async () => {
  masters = await startMasters(2);
});
afterAll(() => masters?.stop());

function nextWarning(): Promise<Error> {
  return new Promise((resolve) => process.once("warning", resolve));
}

/** The second address leads to the same server as the first. */
const twice: [how: string, second: (port: number) => string, name: (port: number) => string][] = [
  ["by the same URL", (port) => `redis://127.0.0.1:${port}`, (port) => `127.0.0.1:${port} (2)`],
  ["by name and by address", (port) => `redis://localhost:${port}`, (port) => `localhost:${port}`],
  ["by two databases", (port) => `redis://127.0.0.1:${port}/1`, (port) => `127.0.0.1:${port}/1`],
];

test.each(twice)(
  "row 19: the same server listed twice, %s: one vote, a warning and the status name both",
  async (_, second, nameOf) => {
    const { port } = masters.at(0);
    const warned = nextWarning();
    await using redlock = new Redlock([`redis://127.0.0.1:${port}`, second(port)]);
    await untilNodes(redlock, (nodes) => nodes.every(({ state }) => state === "ready" || state === "unfit"));

    const names = [`127.0.0.1:${port}`, nameOf(port)];
    expect(redlock.nodes.map(({ name }) => name)).toEqual(names);
    const [first, other] = redlock.nodes.toSorted((a, b) => a.state.localeCompare(b.state));
    expect([first?.state, other?.state]).toEqual(["ready", "unfit"]);
    expect(other?.detail).toBe(`the same server as ${first?.name}, which votes for it`);
    const warning = await warned;
    expect(warning).toMatchObject({ name: "RedlockWarning", code: "REDLOCK_SAME_SERVER" });
    for (const name of names) expect(warning.message).toContain(name);

    const error = await failureOf(redlock.tryAcquire(resourceName("a"), 60_000));
    expect(words(error.message, masters)).toMatch(
      /^"a:\d+": 1\/2 granted, 2 needed \(1 unfit: the same server as .*, which votes for it: .*\)$/,
    );
  },
);

test("row 19: three URLs, two of them one server: it never counts twice", async () => {
  const { port } = masters.at(0);
  await using redlock = new Redlock([masters.at(0).url, `redis://localhost:${port}`, masters.at(1).url]);
  const resource = resourceName();
  const lock = await redlock.acquire(resource, 60_000);
  expect(await valuesOf(masters, resource)).toEqual([lock.token, lock.token]);
  expect((await lock.release()).votes.filter(({ vote }) => vote === "granted")).toHaveLength(2);

  await masters.at(1).freeze();
  const error = await failureOf(redlock.tryAcquire(resource, 60_000));
  expect(error).toMatchObject({ code: "ERR_QUORUM_UNREACHABLE" });
  expect(error.votes.filter(({ vote }) => vote === "granted")).toHaveLength(1);
  await masters.at(1).thaw();
});

test("row 19: the second takes over when the first has left the server", async () => {
  const { port } = masters.at(0);
  await using redlock = new Redlock([masters.at(0).url, `redis://localhost:${port}`]);
  await untilNodes(redlock, (nodes) => nodes.every(({ state }) => state === "ready" || state === "unfit"));
  const runId = () => redlock.nodes.map((node) => node.runId);
  const before = runId();
  await masters.at(0).restart({ data: "empty" });
  await untilNodes(
    redlock,
    (nodes) =>
      nodes.some(({ runId }) => runId !== undefined && !before.includes(runId)) &&
      nodes.some(({ state }) => state === "unfit"),
  );
  expect(runId().filter((id) => id !== undefined)).toHaveLength(1);
});

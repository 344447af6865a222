/** One library in a process of its own. It does what its parent asks, one task after the other, and ends with it. */
import { performance } from "node:perf_hooks";
import type { Redis } from "ioredis";
import { contender } from "../libraries/index.ts";
import type { Library } from "../libraries/library.ts";
import { openClients } from "./clients.ts";
import { cycle, first } from "./cycle.ts";
import { Keeper } from "./keep.ts";
import type { Question, Tasks } from "./tasks.ts";

let clients: readonly Redis[] = [];
let library: Library;
let keeper: Keeper;

const DO: { [Task in keyof Tasks]: (input: Tasks[Task][0]) => Promise<Tasks[Task][1]> } = {
  async open({ library: name, build, urls }) {
    clients = await openClients(urls);
    const { open } = await contender(name).load();
    library = await open(clients, build);
    keeper = new Keeper(library);
    return undefined;
  },
  cycle: (input) => cycle(library, clients, input),
  first: (input) => first(library, input),
  async roundTrip({ times }) {
    const tookMs: number[] = [];
    for (let time = 0; time < times; time++) {
      const startMs = performance.now();
      await clients[time % clients.length]?.ping();
      tookMs.push(performance.now() - startMs);
    }
    return { medianMs: tookMs.sort((a, b) => a - b)[Math.floor(times / 2)] ?? Number.NaN };
  },
  keep: (input) => keeper.keep(input),
  watch: ({ ms }) => keeper.watch(ms),
  letGo: ({ limitMs }) => keeper.letGo(limitMs),
};

process.on("message", async ({ id, task, input }: Question) => {
  try {
    process.send?.({ id, output: await DO[task](input as never) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.stack : String(error) });
  }
});
// Without a parent there is nobody left to work for, and some libraries keep their process alive.
process.on("disconnect", () => process.exit());

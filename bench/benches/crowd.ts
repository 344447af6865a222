import type { Master } from "../../test/fixture/masters.ts";
import type { Contestant } from "../stage/contestant.ts";
import { measureCycles } from "../stage/cycles.ts";
import { interleaved } from "../stage/rounds.ts";
import type { Stage } from "./bench.ts";
import { cycleFigures } from "./figures.ts";

/** A call that takes longer hangs. */
export const LIMIT_MS = 10_000;

/** One process for each library, all connected to the same servers. */
export async function withContestants<T>(
  stage: Stage,
  urls: readonly string[],
  run: (contestants: readonly Contestant[]) => Promise<T>,
): Promise<T> {
  const opening = stage.libraries.map((library) => stage.open(library, urls));
  try {
    return await run(await Promise.all(opening));
  } finally {
    const opened = await Promise.allSettled(opening);
    await Promise.all(opened.map((result) => (result.status === "fulfilled" ? result.value.stop() : undefined)));
  }
}

/** Some callers of each library in turn: once to get warm, then in rounds. */
export async function* measureCrowd(
  stage: Stage,
  contestants: readonly Contestant[],
  masters: readonly Master[],
  callers: number,
): AsyncGenerator<{ contestant: Contestant; figures: Record<string, number>; remarks: readonly string[] }> {
  const input = { callers, ms: stage.roundMs, limitMs: LIMIT_MS };
  const cold = stage.size === "full" ? contestants : [];
  for (const contestant of cold) await measureCycles(contestant, masters, input);
  for (const contestant of interleaved(contestants, stage.rounds)) {
    const measured = await measureCycles(contestant, masters, input);
    yield { contestant, figures: cycleFigures(measured), remarks: measured.complaints };
  }
}

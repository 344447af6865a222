/**
 * The demo: five real masters, some worker processes that share a counter under one lock, and masters that die. Exit code 1
 * when an update was lost or a phase did not go as it has to.
 */
import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Masters, startMasters } from "../fixture/masters.ts";
import { scratchFolder } from "../fixture/scratch.ts";
import { ensureServer } from "../setup/program.ts";
import { readCount } from "./counter.ts";
import { type DemoOptions, parseDemoOptions, USAGE } from "./options.ts";
import { Progress } from "./progress.ts";
import { divide, type Span, statisticsOf } from "./statistics.ts";
import { STORY } from "./story.ts";
import { summaryOf } from "./summary.ts";
import { Team } from "./team.ts";
import { sharedNowMs, type Turn } from "./turn.ts";
import { complaintsAbout, type Outcome } from "./verdict.ts";

async function demo(options: DemoOptions): Promise<Outcome> {
  const file = join(scratchFolder(), "counter");
  await writeFile(file, "0");
  const progress = new Progress();
  try {
    progress.headline(`five masters and ${options.workers} worker processes start`);
    await using masters = await startMasters(5);
    progress.say(masters.nodes.map(({ name, host, port }) => `${name} ${host}:${port}`).join(", "));
    const turns: Turn[] = [];
    const team = await Team.start({
      size: options.workers,
      urls: masters.urls,
      file,
      withLock: options.withLock,
      onTurn(turn) {
        turns.push(turn);
        progress.count(turn);
      },
    });
    const spans = await Promise.race([tell(masters, options.phaseMs, progress), team.failure()]);
    await team.stop();
    return outcomeOf(turns, spans, await readCount(file));
  } finally {
    progress.stop();
  }
}

/** Plays the story and notes when each phase was. */
async function tell(masters: Masters, phaseMs: number, progress: Progress): Promise<Span[]> {
  const spans: Span[] = [];
  for (const { name, headline, enter } of STORY) {
    progress.headline(`${name.toUpperCase()}: ${headline}`);
    await enter(masters);
    const fromMs = sharedNowMs();
    await sleep(phaseMs);
    spans.push({ fromMs, toMs: sharedNowMs() });
  }
  return spans;
}

function outcomeOf(turns: readonly Turn[], spans: readonly Span[], found: number): Outcome {
  const { inSpan, between } = divide(turns, spans);
  return {
    phases: STORY.map((phase, index) => ({ phase, statistics: statisticsOf(inSpan[index] ?? []) })),
    between: statisticsOf(between),
    expected: turns.filter(({ incremented }) => incremented).length,
    found,
  };
}

// The end of this process ends workers, servers and folders, each through whoever watches over it (team.ts, scratch.ts).
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    console.log("Interrupted: everything is being removed.");
    process.exit(128 + constants.signals[signal]);
  });
}

const options = parseDemoOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  process.exit(2);
}
try {
  await ensureServer();
} catch (error) {
  // It says what to install; where in this code it was found missing helps nobody.
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}
const outcome = await demo(options);
console.log(`\n${summaryOf(outcome)}`);
process.exitCode = complaintsAbout(outcome).length === 0 ? 0 : 1;

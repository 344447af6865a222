import pc from "picocolors";
import { Campaign } from "./campaign.ts";
import { MUTATIONS } from "./mutations.ts";
import { parseSimulateOptions, USAGE } from "./options.ts";

const options = parseSimulateOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  const width = Math.max(...Object.keys(MUTATIONS).map(({ length }) => length));
  for (const [name, edits] of Object.entries(MUTATIONS)) {
    const failure = await new Campaign({ ...options, edits }).run();
    const text =
      failure && `${String(failure.seed - options.wish.seed + 1).padStart(6)}  ${failure.violation.invariant}`;
    console.log(`${name.padEnd(width)}  ${text ?? pc.red(`not found in ${options.seeds} seeds`)}`);
    if (failure === undefined) process.exitCode = 1;
  }
}

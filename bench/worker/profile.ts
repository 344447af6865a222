import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";

const SAMPLING_US = 200;

/** Writes a CPU profile of what runs, as Chrome's developer tools read it. */
export async function profiled<T>(file: string, run: () => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLING_US });
  await session.post("Profiler.start");
  const result = await run();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  await writeFile(file, JSON.stringify(profile));
  return result;
}

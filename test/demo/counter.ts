import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Adds one to the number in a file, in three steps with gaps between them. Whoever else does so in the meantime loses an
 * update: that is what the lock has to prevent.
 *
 * @param throwIfLost asked at the last moment, since a lock that was lost protects no write
 */
export async function increment(file: string, throwIfLost: () => void): Promise<void> {
  const count = await readCount(file);
  await sleep(1);
  throwIfLost();
  await writeFile(file, String(count + 1));
}

/** A file that is being written at this moment is empty for others, and counts as 0. */
export async function readCount(file: string): Promise<number> {
  return Number(await readFile(file, "utf8"));
}

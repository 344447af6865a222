import { rm } from "node:fs/promises";
import type { Plugin } from "vite";
import { bundleInto } from "../support/bundle.ts";
import type { Edit } from "./mutations.ts";

const FOLDER = new URL(`../../.cache/simulation-${process.pid}/`, import.meta.url);

/** A program that can be started as often as one likes, until it is disposed of. */
export interface Bundle extends AsyncDisposable {
  readonly program: URL;
}

/**
 * The worker as plain JavaScript: a run makes functions by the thousand, and without their names a fifth more runs are made in the
 * same time.
 *
 * @param edits made to the library on the way
 */
export async function bundleWorker(edits: readonly Edit[]): Promise<Bundle> {
  return {
    program: await bundleInto(FOLDER, new URL("worker.ts", import.meta.url), { plugins: [edited(edits)] }),
    [Symbol.asyncDispose]: () => rm(FOLDER, { recursive: true, force: true }),
  };
}

function edited(edits: readonly Edit[]): Plugin {
  return {
    name: "edited",
    enforce: "pre",
    transform: (code, id) =>
      edits.reduce((text, [file, instead, replacement]) => {
        if (!id.endsWith(`/src/${file}`)) return text;
        if (text.split(instead).length !== 2) throw new Error(`${file}: expected exactly once: ${instead}`);
        return text.replace(instead, replacement);
      }, code),
  };
}

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";
import type { Edit } from "./mutations.ts";

const FOLDER = new URL(`../../.cache/simulation-${process.pid}/`, import.meta.url);

/** A program that can be started as often as one likes, until it is disposed of. */
export interface Bundle extends AsyncDisposable {
  readonly program: URL;
}

/**
 * The worker as plain JavaScript. What translates TypeScript at run time gives each function its name whenever it is made, and a
 * run makes thousands: without that, a fifth more runs in the same time.
 *
 * @param edits made to the library on the way
 */
export async function bundleWorker(edits: readonly Edit[]): Promise<Bundle> {
  await build({
    configFile: false,
    logLevel: "error",
    plugins: [edited(edits)],
    build: {
      ssr: fileURLToPath(new URL("worker.ts", import.meta.url)),
      outDir: fileURLToPath(FOLDER),
      target: "node20",
      minify: false,
    },
  });
  return {
    program: new URL("worker.js", FOLDER),
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

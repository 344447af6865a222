import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** In here, so that it finds what is installed for the bench alone. */
const FOLDER = new URL(`.cache/worker-${process.pid}/`, import.meta.url);

export interface Bundle extends AsyncDisposable {
  readonly program: URL;
}

/**
 * The worker as plain JavaScript. What translates TypeScript at run time gives each function its name whenever it is made, which
 * would burden each library by as many functions as its adapter makes. Packages stay outside, as they were published.
 */
export async function bundleWorker(): Promise<Bundle> {
  await build({
    configFile: false,
    logLevel: "error",
    root: fileURLToPath(new URL("./", import.meta.url)),
    build: {
      ssr: fileURLToPath(new URL("worker/main.ts", import.meta.url)),
      outDir: fileURLToPath(FOLDER),
      target: "node20",
      minify: false,
    },
  });
  return {
    program: new URL("main.js", FOLDER),
    [Symbol.asyncDispose]: () => rm(FOLDER, { recursive: true, force: true }),
  };
}

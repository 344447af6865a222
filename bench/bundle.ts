import { rm } from "node:fs/promises";
import { bundleInto } from "../test/support/bundle.ts";

/** In here, so that it finds what is installed for the bench alone. */
const FOLDER = new URL(`.cache/worker-${process.pid}/`, import.meta.url);

export interface Bundle extends AsyncDisposable {
  readonly program: URL;
}

/**
 * The worker as plain JavaScript: names that are given to functions at run time would burden each library by as many functions as its
 * adapter makes. Packages stay outside, as they were published.
 */
export async function bundleWorker(): Promise<Bundle> {
  return {
    program: await bundleInto(FOLDER, new URL("worker/main.ts", import.meta.url), {
      root: new URL("./", import.meta.url),
    }),
    [Symbol.asyncDispose]: () => rm(FOLDER, { recursive: true, force: true }),
  };
}

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";

export interface BundleOptions {
  /** Where packages are looked for and the sources are. Default: the project. */
  readonly root?: URL;
  readonly plugins?: readonly Plugin[];
}

/**
 * A program as plain JavaScript, in that folder. What translates TypeScript at run time takes its time at every start, and gives each
 * function its name whenever it is made.
 *
 * @returns what to start
 */
export async function bundleInto(folder: URL, source: URL, { root, plugins = [] }: BundleOptions = {}): Promise<URL> {
  await build({
    configFile: false,
    logLevel: "error",
    ...(root === undefined ? {} : { root: fileURLToPath(root) }),
    plugins: [...plugins],
    build: { ssr: fileURLToPath(source), outDir: fileURLToPath(folder), target: "node20", minify: false },
  });
  return new URL(basename(source.pathname).replace(/\.ts$/, ".js"), folder);
}

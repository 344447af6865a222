import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Inside the project, so that the client finds the package by its name. */
const FOLDER = new URL(`../../.cache/chaos-client-${process.pid}/`, import.meta.url);

let built: Promise<URL> | undefined;

/** The client as plain JavaScript: many are started, and translating it each time would take longer than all else. */
export function clientProgram(): Promise<URL> {
  built ??= bundle();
  return built;
}

async function bundle(): Promise<URL> {
  process.once("exit", () => rmSync(FOLDER, { recursive: true, force: true }));
  await build({
    configFile: false,
    logLevel: "error",
    build: {
      ssr: fileURLToPath(new URL("client.ts", import.meta.url)),
      outDir: fileURLToPath(FOLDER),
      target: "node20",
      minify: false,
    },
  });
  return new URL("client.js", FOLDER);
}

import { rmSync } from "node:fs";
import { bundleInto } from "../support/bundle.ts";

/** Inside the project, so that the client finds the package by its name. */
const FOLDER = new URL(`../../.cache/chaos-client-${process.pid}/`, import.meta.url);

let built: Promise<URL> | undefined;

/** The client's program: built once, for many are started. */
export function clientProgram(): Promise<URL> {
  built ??= bundle();
  return built;
}

function bundle(): Promise<URL> {
  process.once("exit", () => rmSync(FOLDER, { recursive: true, force: true }));
  return bundleInto(FOLDER, new URL("client.ts", import.meta.url));
}

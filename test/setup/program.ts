import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { DOWNLOAD_TOOLS, downloadedServer, downloadServer } from "./download.ts";
import { containerEngine, DEFAULT_IMAGE, ensureImage } from "./engine.ts";

/** A server program on this machine, and what its environment needs so that it finds its libraries. */
export interface ServerProgram {
  path: string;
  env: Record<string, string>;
}

/** What this machine can run a Redis server with. */
export type ServerSource = { backend: "process"; program: ServerProgram } | { backend: "container"; image: string };

export type Say = (line: string) => void;

const PROGRAMS = ["redis-server", "valkey-server"];

let found: Promise<ServerSource> | undefined;

/**
 * Finds a server, or gets one without installing anything: `REDIS_SERVER`, the PATH, one downloaded earlier, a container
 * engine, a download where there is apt. It is looked for once; `say` tells the user before anything is fetched.
 *
 * @throws Error with the command that installs a server on this system, when there is no other way.
 */
export function ensureServer(say: Say = console.log): Promise<ServerSource> {
  found ??= findServer(say);
  return found;
}

async function findServer(say: Say): Promise<ServerSource> {
  const installed = process.env.REDIS_SERVER ?? firstInPath(PROGRAMS);
  if (installed !== undefined) return { backend: "process", program: { path: installed, env: {} } };

  const earlier = downloadedServer();
  if (earlier !== undefined) return { backend: "process", program: earlier };

  const engine = await containerEngine();
  if (engine !== undefined && (await ensureImage(DEFAULT_IMAGE, say)) === undefined) {
    say(`No redis-server or valkey-server here: using ${DEFAULT_IMAGE} in ${engine}.`);
    return { backend: "container", image: DEFAULT_IMAGE };
  }

  let cause: unknown = "no container engine answers";
  if (Object.values(DOWNLOAD_TOOLS).every((tool) => firstInPath([tool]) !== undefined)) {
    try {
      return { backend: "process", program: await downloadServer(say) };
    } catch (error) {
      cause = error;
    }
  }
  throw new Error(`No redis-server or valkey-server here (${cause}). Install one: ${installHint()}`, { cause });
}

function firstInPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const INSTALL_COMMANDS: Record<string, string> = {
  "apt-get": "sudo apt-get install redis-server",
  dnf: "sudo dnf install valkey",
  apk: "sudo apk add redis",
  pacman: "sudo pacman -S valkey",
  brew: "brew install redis",
};

function installHint(): string {
  const manager = Object.keys(INSTALL_COMMANDS).find((name) => firstInPath([name]) !== undefined);
  return (manager && INSTALL_COMMANDS[manager]) ?? "redis-server 7 or later, or set REDIS_SERVER to where it is";
}

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ExecaError, execa } from "execa";
import type { Say, ServerProgram } from "./program.ts";

/** Where the downloaded server is. It goes with `node_modules`, as all that `npm ci` replaces. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/redlock-quorum/", import.meta.url));
const ROOT = join(CACHE, "server");

/** What a download takes: it is possible where both are. */
export const DOWNLOAD_TOOLS = { fetch: "apt-get", unpack: "dpkg-deb" };

/** The packages of a server, by the program that they bring. Debian's servers live in the package of their tools. */
const PACKAGES = {
  "redis-server": ["redis-server", "redis-tools"],
  "valkey-server": ["valkey-server", "valkey-tools"],
};

/** The server that an earlier run has downloaded. */
export function downloadedServer(): ServerProgram | undefined {
  const path = Object.keys(PACKAGES)
    .map((name) => join(ROOT, "usr/bin", name))
    .find(existsSync);
  if (path === undefined) return undefined;
  const libraries = libraryFolders(ROOT).join(":");
  return { path, env: libraries === "" ? {} : { LD_LIBRARY_PATH: libraries } };
}

function libraryFolders(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  return [...new Set(files.filter((file) => /\.so(\.|$)/.test(file)).map((file) => join(root, dirname(file))))];
}

/**
 * Downloads the system's own package of a server, and the libraries that the system lacks, and unpacks them into a cache
 * folder. Nothing is installed and nobody needs to be root: apt gets folders of its own for all that it writes.
 */
export async function downloadServer(say: Say): Promise<ServerProgram> {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, "download-"));
  try {
    say(
      `No redis-server or valkey-server here: downloading this system's package into ${ROOT} (nothing is installed) …`,
    );
    await fetchPackages(work);
    const unpacked = join(work, "root");
    mkdirSync(unpacked);
    const archives = join(work, "cache/archives");
    for (const file of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
      await execa(DOWNLOAD_TOOLS.unpack, ["-x", join(archives, file), unpacked]);
    }
    // The last step, so that a download that was broken off is never taken for a server.
    if (!existsSync(ROOT)) renameSync(unpacked, ROOT);
    const server = downloadedServer();
    if (server === undefined) throw new Error("the package has no server program");
    const { stdout } = await execa(server.path, ["--version"], { env: server.env });
    say(stdout);
    return server;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function fetchPackages(work: string): Promise<void> {
  for (const folder of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(work, folder), { recursive: true });
  // apt locks the folder of its status file: with a copy it needs no rights, and still knows which libraries are here.
  copyFileSync("/var/lib/dpkg/status", join(work, "status"));
  const apt = (...args: string[]) =>
    execa(DOWNLOAD_TOOLS.fetch, [
      `-oDir::State::Lists=${join(work, "lists")}`,
      `-oDir::State::Status=${join(work, "status")}`,
      `-oDir::State::Extended_States=${join(work, "extended_states")}`,
      `-oDir::Cache=${join(work, "cache")}`,
      "-oAPT::Install-Recommends=false",
      "-oAPT::Sandbox::User=root",
      "-qq",
      ...args,
    ]);
  // A source that fails, or a hook that wants to be root, need not matter: the next step tells.
  await apt("update").catch(() => {});
  const complaints: string[] = [];
  for (const packages of Object.values(PACKAGES)) {
    try {
      // "reinstall" also fetches a package that the system has, but not in the PATH.
      await apt("--yes", "--download-only", "--reinstall", "install", ...packages);
      return;
    } catch (error) {
      complaints.push(error instanceof ExecaError ? String(error.stderr) : String(error));
    }
  }
  throw new Error(`apt-get brought no server: ${complaints.join("; ")}`);
}

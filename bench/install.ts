import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

const FOLDER = new URL("./", import.meta.url);

/** Installs what only the bench needs, unless it is there as the lock file wants it. */
export async function ensureInstalled(say: (line: string) => void): Promise<void> {
  const [wanted, installed] = await Promise.all([
    packages("package-lock.json"),
    packages("node_modules/.package-lock.json"),
  ]);
  if (installed === wanted) return;
  say("Installing the libraries to compare with, into bench/node_modules (npm ci --prefix bench) …");
  await execa("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: fileURLToPath(FOLDER),
    stderr: "inherit",
  });
}

/** What a lock file lists; npm notes in one of the same form what it has installed. */
async function packages(lockFile: string): Promise<string | undefined> {
  try {
    const { packages } = JSON.parse(await readFile(new URL(lockFile, FOLDER), "utf8"));
    return Object.entries<{ version?: string }>(packages)
      .flatMap(([path, { version }]) => (path === "" ? [] : [`${path} ${version}`]))
      .sort()
      .join();
  } catch {
    return undefined;
  }
}

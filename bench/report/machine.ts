import { readFile } from "node:fs/promises";
import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import { CONTENDERS } from "../libraries/index.ts";
import { startServers } from "../stage/servers.ts";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
  };
}

/** Of all that takes part. */
export async function versions(): Promise<Record<string, string>> {
  const { dependencies }: { dependencies: Record<string, string> } = await readJson("../package.json");
  const { version }: { version: string } = await readJson("../../package.json");
  const packages = Object.entries(CONTENDERS).flatMap(([library, { packageName }]) =>
    packageName === undefined ? [] : [[library, (dependencies[packageName] ?? "unknown").replace(/^npm:.*@/, "")]],
  );
  return {
    node: process.version,
    server: await serverVersion(),
    ioredis: dependencies.ioredis ?? "unknown",
    "redlock-quorum": version,
    ...Object.fromEntries(packages),
  };
}

async function serverVersion(): Promise<string> {
  await using masters = await startServers(1);
  const info = String(await masters.at(0).admin("INFO", "server"));
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
  return valkey === undefined ? `Redis ${/^redis_version:(\S+)/m.exec(info)?.[1]}` : `Valkey ${valkey}`;
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
}

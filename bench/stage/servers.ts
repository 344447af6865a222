import { type Master, type Masters, startMasters } from "../../test/fixture/masters.ts";

/** Nothing goes to a disk: what a disk is busy with is none of the libraries' doing. */
const ARGS = ["--appendonly", "no"];

export function startServers(count: number, options: { proxied?: boolean } = {}): Promise<Masters> {
  return startMasters(count, { args: ARGS, ...options });
}

/** What servers have spent and done since their start, and have now. */
interface Usage {
  readonly cpuUs: number;
  /** Commands, those in scripts too. */
  readonly sets: number;
  readonly dels: number;
  readonly keys: number;
}

/** Of the servers that run: the others answer nothing. */
export async function usageOf(masters: readonly Master[]): Promise<Usage> {
  const infos = await Promise.all(running(masters).map(async (master) => String(await master.admin("INFO", "all"))));
  const sum = (pattern: RegExp) => infos.reduce((total, info) => total + Number(pattern.exec(info)?.[1] ?? 0), 0);
  return {
    cpuUs: (sum(/^used_cpu_user:([\d.]+)/m) + sum(/^used_cpu_sys:([\d.]+)/m)) * 1e6,
    sets: sum(/^cmdstat_set:calls=(\d+)/m),
    dels: sum(/^cmdstat_del:calls=(\d+)/m),
    keys: sum(/^db0:keys=(\d+)/m),
  };
}

/** How many keys each of the servers that run has. */
export function keyCounts(masters: readonly Master[]): Promise<number[]> {
  return Promise.all(running(masters).map(async (master) => Number(await master.admin("DBSIZE"))));
}

export async function flush(masters: readonly Master[]): Promise<void> {
  await Promise.all(running(masters).map((master) => master.admin("FLUSHALL")));
}

function running(masters: readonly Master[]): readonly Master[] {
  return masters.filter(({ state }) => state === "running");
}

import type { Master } from "../../test/fixture/masters.ts";
import type { CycleInput, CycleReport } from "../worker/tasks.ts";
import type { Contestant } from "./contestant.ts";
import { flush, usageOf } from "./servers.ts";

export interface Measured extends CycleReport {
  readonly perSecond: number;
  /** In all servers together. */
  readonly serverCpuUs: number;
  /** What is not as it has to be after cycles that all succeeded. */
  readonly complaints: readonly string[];
}

/** Lets one contestant run cycles, and looks at the servers before and after. */
export async function measureCycles(
  contestant: Contestant,
  masters: readonly Master[],
  input: CycleInput,
): Promise<Measured> {
  const before = await usageOf(masters);
  const report = await contestant.ask("cycle", input);
  const after = await usageOf(masters);
  if (after.keys > 0) await flush(masters);

  const votes = report.cycles * (Math.floor(masters.length / 2) + 1);
  const complaints = [
    ...(report.hung > 0 ? [`${report.hung} calls hang`] : []),
    ...(report.failures > 0 ? [`${report.failures} calls failed: ${report.failure}`] : []),
    ...(report.cycles === 0 ? ["no cycle was completed"] : []),
    ...(after.keys > 0 ? [`${after.keys} keys left`] : []),
    ...(after.sets - before.sets < votes ? [`${votes} keys claimed to be set, ${after.sets - before.sets} were`] : []),
    ...(after.dels - before.dels < votes ? [`${votes} keys claimed deleted, ${after.dels - before.dels} were`] : []),
  ];
  return {
    ...report,
    perSecond: (report.cycles / report.elapsedMs) * 1_000,
    serverCpuUs: after.cpuUs - before.cpuUs,
    complaints,
  };
}

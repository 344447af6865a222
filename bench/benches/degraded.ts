import type { Masters } from "../../test/fixture/masters.ts";
import { TcpProxy } from "../../test/fixture/proxy/proxy.ts";
import { measureCycles } from "../stage/cycles.ts";
import { interleaved } from "../stage/rounds.ts";
import { startServers } from "../stage/servers.ts";
import { type Bench, Rows, type Stage } from "./bench.ts";
import { LIMIT_MS } from "./crowd.ts";

const NODES = 5;
const CALLERS = 16;
const HANG_MS = { full: LIMIT_MS, small: 500 };
const SLOW_MS = 20;

interface Scene {
  readonly masters: Masters;
  /** In front of the last server. */
  readonly proxy: TcpProxy;
}

interface Fault {
  readonly name: string;
  begin(scene: Scene): Promise<unknown>;
  end(scene: Scene): Promise<unknown>;
}

const lastTwo = ({ masters }: Scene) => masters.nodes.slice(-2);

const FROZEN: Fault = {
  name: "two frozen",
  begin: (scene) => Promise.all(lastTwo(scene).map((master) => master.freeze())),
  end: (scene) => Promise.all(lastTwo(scene).map((master) => master.thaw())),
};
const REFUSED: Fault = {
  name: "two refused",
  begin: (scene) => Promise.all(lastTwo(scene).map((master) => master.kill())),
  end: (scene) => Promise.all(lastTwo(scene).map((master) => master.restart({ data: "empty" }))),
};
const SLOW: Fault = {
  name: `one at +${SLOW_MS} ms`,
  begin: async ({ proxy }) => proxy.delayMs(SLOW_MS / 2),
  end: async ({ proxy }) => proxy.delayMs(0),
};
const FAULTS = { full: [FROZEN, REFUSED, SLOW], small: [FROZEN] };

export const degraded: Bench = {
  name: "degraded",
  smoke: "few",
  title: `Acquire and release, five nodes, ${CALLERS} callers, before and after something happens to a minority`,
  parameter: "fault",
  figures: [
    { name: "healthyPerSecond", head: "before, cycles/s", digits: 0, better: "more" },
    { name: "perSecond", head: "after, cycles/s", digits: 0, better: "more" },
    { name: "share", head: "after / before", digits: 2, better: "more" },
    { name: "firstMs", head: "first cycle after, ms", digits: 1, better: "less" },
  ],
  compared: [],
  charts: [{ figure: "share", title: "Throughput with the fault, as a share of the throughput before it" }],
  async run(stage) {
    const rows = new Rows();
    await using masters = await startServers(NODES);
    const proxy = await TcpProxy.open(masters.at(NODES - 1));
    try {
      for (const fault of FAULTS[stage.size]) {
        stage.say(fault.name);
        for (const library of interleaved(stage.libraries, stage.rounds)) {
          const { figures, remarks } = await suffer(stage, library, fault, { masters, proxy });
          rows.add(fault.name, library, figures, remarks);
        }
      }
    } finally {
      await proxy.close();
    }
    return rows.toArray();
  },
};

/** In a process that has known better times: connections made after the fault would be another question. */
async function suffer(stage: Stage, library: string, fault: Fault, scene: Scene) {
  const { masters, proxy } = scene;
  const urls = [...masters.urls.slice(0, -1), `redis://${proxy.host}:${proxy.port}`];
  const input = { callers: CALLERS, ms: stage.roundMs, limitMs: HANG_MS[stage.size] };
  await using contestant = await stage.open(library, urls);
  await measureCycles(contestant, masters.nodes, input);
  const before = await measureCycles(contestant, masters.nodes, input);
  await fault.begin(scene);
  try {
    const { tookMs, outcome } = await contestant.ask("first", { limitMs: HANG_MS[stage.size] });
    if (outcome === undefined) {
      return { figures: undefined, remarks: [`hangs: no answer within ${HANG_MS[stage.size] / 1_000} s`] };
    }
    const after = await measureCycles(contestant, masters.nodes, input);
    const figures = {
      healthyPerSecond: before.perSecond,
      perSecond: after.perSecond,
      share: after.perSecond / before.perSecond,
      firstMs: tookMs,
    };
    const remarks = [
      ...before.complaints,
      ...after.complaints,
      ...(outcome === "failed" ? ["the first call failed"] : []),
    ];
    return { figures, remarks };
  } finally {
    await contestant.stop();
    await fault.end(scene);
  }
}

import { startServers } from "../stage/servers.ts";
import { type Bench, Rows } from "./bench.ts";
import { measureCrowd, withContestants } from "./crowd.ts";
import { CLIENT_CPU, CYCLE_FIGURES, P50, PER_SECOND } from "./figures.ts";

const NODES = 5;
const CALLERS = { full: [1, 16, 128, 1_024], small: [16] };

export const cycle: Bench = {
  name: "cycle",
  smoke: "everybody",
  title: "Acquire and release, five nodes, each caller with a resource of its own",
  parameter: "callers",
  figures: CYCLE_FIGURES,
  compared: [PER_SECOND.name, P50.name, CLIENT_CPU.name],
  charts: [
    { figure: "perSecond", title: "Cycles per second" },
    { figure: "clientCpuUs", title: "CPU time of the client, µs per cycle" },
  ],
  async run(stage) {
    const rows = new Rows();
    await using masters = await startServers(NODES);
    await withContestants(stage, masters.urls, async (contestants) => {
      for (const callers of CALLERS[stage.size]) {
        stage.say(`${callers} callers`);
        for await (const { contestant, figures, remarks } of measureCrowd(stage, contestants, masters.nodes, callers)) {
          rows.add(String(callers), contestant.library, figures, remarks);
        }
      }
    });
    return rows.toArray();
  },
};

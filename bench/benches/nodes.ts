import { startServers } from "../stage/servers.ts";
import { type Bench, Rows } from "./bench.ts";
import { measureCrowd, withContestants } from "./crowd.ts";
import { CYCLE_FIGURES, PER_SECOND } from "./figures.ts";

const NODES = { full: [1, 3, 5, 7, 9], small: [3] };
const CALLERS = 16;

export const nodes: Bench = {
  name: "nodes",
  smoke: "few",
  title: `Acquire and release, ${CALLERS} callers, on more and more nodes`,
  parameter: "nodes",
  figures: CYCLE_FIGURES,
  compared: [PER_SECOND.name],
  charts: [{ figure: "clientCpuUs", title: "CPU time of the client, µs per cycle" }],
  async run(stage) {
    const rows = new Rows();
    await using all = await startServers(Math.max(...NODES[stage.size]));
    for (const count of NODES[stage.size]) {
      stage.say(`${count} nodes`);
      const masters = all.nodes.slice(0, count);
      await withContestants(stage, all.urls.slice(0, count), async (contestants) => {
        for await (const { contestant, figures, remarks } of measureCrowd(stage, contestants, masters, CALLERS)) {
          rows.add(String(count), contestant.library, figures, remarks);
        }
      });
    }
    return rows.toArray();
  },
};

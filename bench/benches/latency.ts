import type { Masters } from "../../test/fixture/masters.ts";
import type { Contestant } from "../stage/contestant.ts";
import { startServers } from "../stage/servers.ts";
import { type Bench, Rows, type Stage } from "./bench.ts";
import { measureCrowd, withContestants } from "./crowd.ts";
import { P50, P99, PER_SECOND } from "./figures.ts";

const NODES = 5;
const ROUND_TRIPS_MS = { full: [1, 5, 20], small: [5] };
const CALLERS = { full: [1, 16], small: [1] };
const PINGS = { full: 25, small: 5 };

export const latency: Bench = {
  name: "latency",
  smoke: "few",
  title: "Acquire and release, five nodes that are far away",
  parameter: "round trip, callers",
  figures: [
    { name: "roundTripMs", head: "PING, ms", digits: 2, better: "less" },
    P50,
    P99,
    { name: "roundTrips", head: "p50, round trips", digits: 2, better: "less" },
    PER_SECOND,
  ],
  compared: ["roundTrips"],
  charts: [{ figure: "roundTrips", title: "Median cycle, in round trips" }],
  async run(stage) {
    const rows = new Rows();
    await using masters = await startServers(NODES, { proxied: true });
    await withContestants(stage, masters.urls, async (contestants) => {
      for (const roundTripMs of ROUND_TRIPS_MS[stage.size]) {
        for (const { proxy } of masters.nodes) proxy.delayMs(roundTripMs / 2);
        for (const callers of CALLERS[stage.size]) {
          stage.say(`${roundTripMs} ms, ${callers} callers`);
          await measure(stage, contestants, masters, callers, `${roundTripMs} ms, ${callers}`, rows);
        }
      }
    });
    return rows.toArray();
  },
};

/** The proxies' timers are no finer than a millisecond and wait for their turn, so the round trip is measured, not believed. */
async function measure(
  stage: Stage,
  contestants: readonly Contestant[],
  masters: Masters,
  callers: number,
  at: string,
  rows: Rows,
): Promise<void> {
  for await (const { contestant, figures, remarks } of measureCrowd(stage, contestants, masters.nodes, callers)) {
    const { medianMs: roundTripMs } = await contestant.ask("roundTrip", { times: PINGS[stage.size] });
    const roundTrips = (figures.p50Ms ?? Number.NaN) / roundTripMs;
    rows.add(at, contestant.library, { ...figures, roundTripMs, roundTrips }, remarks);
  }
}

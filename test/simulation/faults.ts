import type { Chance } from "./chance.ts";
import type { Client } from "./client.ts";
import type { Way } from "./network.ts";
import type { FaultName } from "./plan.ts";
import type { Server } from "./server.ts";
import type { World } from "./world.ts";

/** Where something goes wrong. */
export interface Spot {
  readonly client: Client;
  readonly server: Server;
}

/** Something that can go wrong: it begins, and ends by itself or when all faults end. */
export type Fault = (world: World, chance: Chance, spot: Spot) => void;

const HOUR_MS = 3_600_000;
const MAX_DELAY_MS = 1_000;
/** For so many of the longest ttl bytes may lie in an old socket. */
export const LONGEST_HOLD_TTLS = 2;

export const FAULT: Readonly<Record<FaultName, Fault>> = {
  crash(world, chance, { server }) {
    if (!server.isUp || server.isFrozen) return;
    server.crash({ keepsData: true });
    const loadsForMs = chance.happens(0.3) ? durationMs(world, chance) : 0;
    world.heals(durationMs(world, chance), () => {
      server.start({ loadsForMs: world.isCalm ? 0 : loadsForMs });
      world.counts.add("restart with data");
    });
  },

  "crash losing data"(world, chance, { server }) {
    if (!server.isUp || server.isFrozen) return;
    server.crash({ keepsData: false });
    const { plan } = world;
    // Within bounds it stays away until every key that it may have held is over, by any clock.
    const longestTtlMs = plan.maxTtlMs * (1 + plan.driftFactor) + 2;
    const downMs = plan.forgets ? durationMs(world, chance) * 0.1 : longestTtlMs;
    world.time.after(downMs, () => {
      server.start({ loadsForMs: 0 });
      world.counts.add(plan.forgets ? "early restart without data" : "restart without data");
    });
  },

  flush(world, _, { server }) {
    if (!server.isUp) return;
    world.note(server.name, "is flushed");
    world.counts.add("data flushed");
    server.flush();
  },

  freeze(world, chance, { server }) {
    if (!server.isUp || server.isFrozen) return;
    world.note(server.name, "freezes");
    server.freeze();
    world.counts.add("server frozen");
    world.heals(durationMs(world, chance), () => {
      world.note(server.name, "thaws");
      server.thaw();
    });
  },

  slow(world, chance, { server }) {
    if (!server.isUp || server.isFrozen) return;
    server.serviceMs = Math.min(world.plan.nodeTimeoutMs, world.plan.ttlMs / 4) * chance.between(0.05, 1.5);
    world.note(server.name, "is slow", () => `${server.serviceMs.toFixed(1)} ms a command`);
    world.counts.add("server slow");
    world.heals(durationMs(world, chance), () => {
      server.serviceMs = 0;
    });
  },

  refuse(world, chance, { server }) {
    if (!server.isUp || server.isFrozen) return;
    server.refusal = chance.pick(["OOM command not allowed when used memory > 'maxmemory'", "MISCONF cannot save"]);
    world.note(server.name, "refuses writes");
    world.heals(durationMs(world, chance), () => {
      server.refusal = undefined;
    });
  },

  delay(world, chance, spot) {
    const way = anyWay(chance, spot);
    if (way === undefined) return;
    // What is under way when all faults end is to arrive within the time for recovery.
    const extraMs = Math.min(durationMs(world, chance) * chance.pick([0.05, 0.3, 1]), MAX_DELAY_MS);
    world.note("network", "delay", () => `${way.name}: ${extraMs.toFixed(1)} ms more`);
    way.way.extraMs += extraMs;
    world.counts.add("delay");
    world.heals(durationMs(world, chance), () => {
      way.way.extraMs -= extraMs;
    });
  },

  cut(world, chance, { client, server }) {
    const redis = client.redises[client.servers.indexOf(server)];
    const connection = redis?.connection;
    if (redis === undefined || connection === undefined) return;
    const kind = chance.pick(["both ends", "client's end", "client's end, late bytes", "server's end"]);
    world.note("network", "cut", () => `${client.name} – ${server.name}: ${kind}`);
    if (kind === "both ends") world.counts.add("request lost", connection.requests.cut().length);
    const holdMs = Math.min(durationMs(world, chance), LONGEST_HOLD_TTLS * world.plan.maxTtlMs);
    if (kind === "client's end, late bytes") connection.requests.hold(holdMs);
    if (kind === "both ends" || kind === "server's end") server.drop(connection);
    if (kind !== "server's end") redis.breakOff();
  },

  "set server clock forward"(world, chance, { server }) {
    if (!server.isUp || server.isFrozen) return;
    const ms = durationMs(world, chance);
    world.note(server.name, "has its clock set forward", () => `${ms.toFixed(1)} ms`);
    server.stepClock(ms);
  },

  partition(world, chance, spot) {
    const ways = someLinks(world, chance, spot).flatMap(({ toServer, toClient }) => [toServer, toClient]);
    world.note("network", "partition", () => `${ways.length / 2} links`);
    world.counts.add("partition");
    stopWays(world, chance, ways);
  },

  "one-way stop"(world, chance, spot) {
    const direction = chance.pick(["toServer", "toClient"] as const);
    const ways = someLinks(world, chance, spot).map((link) => link[direction]);
    world.note("network", `stop ${direction}`, () => `${ways.length} links`);
    world.counts.add(direction === "toServer" ? "one-way stop to a server" : "one-way stop to a client");
    stopWays(world, chance, ways);
  },

  pause(world, chance, { client }) {
    if (!client.machine.isRunning) return;
    const ms = durationMs(world, chance);
    client.note("pauses", () => `for ${ms.toFixed(1)} ms`);
    world.counts.add("client paused");
    client.machine.pause(ms);
  },

  stall(world, chance, { client }) {
    if (!client.machine.isRunning) return;
    const ms = durationMs(world, chance);
    client.machine.stallSoon(chance.whole(1, 40), ms, () => {
      client.note("has stalled in the middle of a turn", () => `for ${ms.toFixed(1)} ms`);
      world.counts.add("client stalled in a turn");
    });
  },

  suspend(world, chance, { client }) {
    if (!client.machine.isRunning) return;
    const ms = durationMs(world, chance);
    client.note("is suspended", () => `for ${ms.toFixed(1)} ms`);
    world.counts.add("client suspended");
    client.machine.suspend(ms);
    if (world.plan.hole === "suspension hidden") client.machine.stepWall(-ms);
  },

  kill(world, chance, { client }) {
    if (!client.machine.isRunning) return;
    world.counts.add("client crash");
    client.crash();
    if (chance.happens(0.5)) {
      world.time.after(durationMs(world, chance), () => {
        if (!world.isCalm) world.addClient();
      });
    }
  },

  close(world, chance, { client }) {
    if (client.machine.isRunning && !client.isClosed) world.closeAndReopen(client, durationMs(world, chance));
  },

  "set clock forward"(world, chance, { client }) {
    if (!client.machine.isRunning) return;
    const ms = chance.pick([durationMs(world, chance), HOUR_MS]);
    client.note("has its wall clock set forward", () => `${ms.toFixed(1)} ms`);
    world.counts.add("wall clock set forward");
    client.machine.stepWall(ms);
  },

  "set clock back"(world, chance, { client }) {
    if (!client.machine.isRunning) return;
    const ms = chance.pick([durationMs(world, chance), HOUR_MS]);
    client.note("has its wall clock set back", () => `${ms.toFixed(1)} ms`);
    world.counts.add("wall clock set back");
    client.machine.stepWall(-ms);
  },
};

/** From a blink to several times the ttl. */
function durationMs({ plan }: World, chance: Chance): number {
  return chance.exponential(plan.ttlMs * chance.pick([0.05, 0.3, 1]));
}

function anyWay(chance: Chance, { client, server }: Spot): { readonly way: Way; readonly name: string } | undefined {
  const link = client.links[client.servers.indexOf(server)];
  if (link === undefined) return undefined;
  return chance.happens(0.5)
    ? { way: link.toServer, name: `${client.name} → ${server.name}` }
    : { way: link.toClient, name: `${server.name} → ${client.name}` };
}

/** One link, all or some of one client, or all of one server. */
function someLinks({ clients }: World, chance: Chance, { client, server }: Spot): Client["links"] {
  switch (chance.pick(["one", "all", "some", "server"])) {
    case "one":
      return client.links.filter((_, index) => client.servers[index] === server);
    case "all":
      return client.links;
    case "some":
      return client.links.filter(() => chance.happens(0.6));
    default:
      return clients.flatMap(({ servers, links }) => links[servers.indexOf(server)] ?? []);
  }
}

function stopWays(world: World, chance: Chance, ways: readonly Way[]): void {
  const resumes = ways.map((way) => way.stop());
  world.heals(durationMs(world, chance), () => {
    for (const resume of resumes) resume();
  });
}

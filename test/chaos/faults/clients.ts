import { type ClientFault, everywhere } from "./fault.ts";

export const PAUSE: ClientFault = {
  name: "client process paused",
  part: "client",
  available: everywhere,
  // Up to longer than any lock lives.
  lengthMs: (chance, { longestTtlMs }) => chance.magnitude(100, longestTtlMs * 1.3),
  inject: (client, { cluster }) => cluster.clients.pause(client),
  heal: async (client, { cluster }) => cluster.clients.resume(client),
};

export const KILL_CLIENT: ClientFault = {
  name: "client process killed",
  part: "client",
  maxVictims: 1,
  available: everywhere,
  lengthMs: (chance) => chance.magnitude(10, 1_000),
  inject: (client, { cluster }) => cluster.clients.kill(client),
  heal: async (client, { cluster }) => cluster.clients.replace(client),
};

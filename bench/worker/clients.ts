import { once } from "node:events";
import { Redis } from "ioredis";

/** The same for every library: ioredis's own defaults, as the libraries' readmes have them. */
export async function openClients(urls: readonly string[]): Promise<readonly Redis[]> {
  const clients = urls.map((url) => new Redis(url));
  // Servers are killed here on purpose; what a library makes of it is seen in its calls.
  for (const client of clients) client.on("error", () => {});
  await Promise.all(clients.map((client) => once(client, "ready")));
  return clients;
}

/** Nobody listens to anything: connections that fail, a server that is killed, a lock that is lost. Usage: deaf.ts URL PID */
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { builtPackage } from "../../support/built.ts";

const [url = "", pid = ""] = process.argv.slice(2);
const { Redlock } = await builtPackage();
const { hostname, port } = new URL(url);
const clients = [new Redis(Number(port), hostname), new Redis5(Number(port), hostname)];
const redlock = new Redlock([...clients, url, "redis://127.0.0.1:1", "rediss://127.0.0.1:1"]);
const single = new Redlock([url]);
const lock = await single.acquire("deaf", 300);
const ended = new Promise((resolve) => clients[0]?.once("close", resolve));
process.kill(Number(pid), "SIGKILL");
await ended;
await redlock.tryAcquire("deaf", 1_000).catch(() => {});
while (lock.isHeld()) await new Promise(setImmediate);
// The timer that finds out about the loss has had its turn.
await new Promise((resolve) => setTimeout(resolve, 10));
await Promise.all([redlock.close(), single.close()]);
for (const client of clients) client.disconnect();
console.log("alive");

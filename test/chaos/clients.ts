import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execaNode } from "execa";
import { scratchFolder } from "../fixture/scratch.ts";
import { clientProgram } from "./bundle.ts";
import type { Order, Pulse } from "./client.ts";
import type { Journal } from "./history.ts";

/** Limits, not waits. */
const LIMIT_MS = 30_000;

function start(program: URL, order: Order) {
  return execaNode(program, [JSON.stringify(order)], {
    nodeOptions: [],
    ipc: true,
    // Of its messages only the last counts.
    buffer: { ipc: false },
    reject: false,
    serialization: "json",
  });
}

/** One life of a client process. */
export class Client {
  readonly name: string;
  readonly process: ReturnType<typeof start>;
  pulse: Pulse = { ready: 0, grants: 0 };
  isStopped = false;

  constructor(program: URL, order: Order) {
    this.name = order.name;
    this.process = start(program, order);
    // Whatever ends the runner, the watchdog of its folders ends this process too, also one that is stopped.
    writeFileSync(join(scratchFolder(), "pid"), String(this.process.pid));
  }
}

/** The client processes; one that is killed gets a successor. */
export class Clients implements AsyncDisposable {
  readonly #journal: Journal;
  readonly #program: URL;
  readonly #orderOf: (name: string, ordinal: number) => Order;
  readonly #living = new Map<number, Client>();
  readonly #watchers = new Set<() => void>();
  #lives = 0;
  #pastGrants = 0;

  private constructor(program: URL, journal: Journal, orderOf: (name: string, ordinal: number) => Order) {
    this.#program = program;
    this.#journal = journal;
    this.#orderOf = orderOf;
  }

  static async start(
    size: number,
    journal: Journal,
    orderOf: (name: string, ordinal: number) => Order,
  ): Promise<Clients> {
    const clients = new Clients(await clientProgram(), journal, orderOf);
    for (let slot = 0; slot < size; slot += 1) clients.#spawn(slot, `client-${slot + 1}`);
    return clients;
  }

  get living(): readonly Client[] {
    return [...this.#living.values()];
  }

  /** Locks got so far. */
  get grants(): number {
    return this.living.reduce((sum, { pulse }) => sum + pulse.grants, this.#pastGrants);
  }

  /** SIGKILL: nothing is released. Resolves when it is gone. */
  async kill(client: Client): Promise<void> {
    const [slot] = [...this.#living].find(([, living]) => living === client) ?? [];
    if (slot === undefined) throw new Error(`${client.name} is not alive`);
    this.#living.delete(slot);
    this.#pastGrants += client.pulse.grants;
    client.process.kill("SIGKILL");
    await client.process;
    this.#journal.write({ is: "gone", who: client.name, why: "killed" });
  }

  replace(client: Client): void {
    const [place = "", life = "1"] = client.name.split(".");
    this.#spawn(Number(place.slice("client-".length)) - 1, `${place}.${Number(life) + 1}`);
  }

  /** SIGSTOP. Resolves when it has stopped. */
  async pause(client: Client): Promise<void> {
    client.process.kill("SIGSTOP");
    client.isStopped = true;
    const stat = `/proc/${client.process.pid}/stat`;
    while (existsSync(stat) && !/\) [Tt] /.test(readFileSync(stat, "utf8"))) await sleep(1);
  }

  resume(client: Client): void {
    client.process.kill("SIGCONT");
    client.isStopped = false;
  }

  /** Resolves when it is so; looks at each client's pulse. */
  until(complaint: string, isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#watchers.delete(look);
        clearTimeout(limit);
      };
      const limit = setTimeout(() => {
        end();
        const pulses = this.living.map(({ name, pulse }) => ({ name, ...pulse }));
        reject(new Error(`${complaint}: ${JSON.stringify(pulses)}`));
      }, LIMIT_MS);
      const look = () => {
        if (!isSo()) return;
        end();
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Resolves when every client sees so many nodes vote. */
  see(nodes: number): Promise<void> {
    return this.until(`not all see ${nodes} nodes`, () => this.living.every(({ pulse }) => pulse.ready === nodes));
  }

  /** Resolves when every client has got so many locks more. */
  progress(grants: number): Promise<void> {
    const before = new Map(this.living.map((client) => [client, client.pulse.grants]));
    return this.until("no progress", () =>
      [...before].every(([client, count]) => client.pulse.grants >= count + grants),
    );
  }

  /** Lets every client end its turns, settle and close. Resolves when all are gone. */
  async stop(): Promise<void> {
    await Promise.all(
      this.living.map(async ({ process }) => {
        await process.sendMessage("stop").catch(() => {});
        await process;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.living) process.kill("SIGKILL");
    await Promise.all(this.living.map(({ process }) => process));
  }

  #spawn(slot: number, name: string): void {
    const client = new Client(this.#program, this.#orderOf(name, this.#lives));
    this.#lives += 1;
    this.#living.set(slot, client);
    client.process.on("message", (pulse) => {
      client.pulse = pulse as Pulse;
      for (const look of this.#watchers) look();
    });
    void client.process.then(({ exitCode, stderr, message }) => {
      // Killed ones do not live any more by now.
      if (exitCode === 0 || this.#living.get(slot) !== client) return;
      this.#living.delete(slot);
      this.#journal.write({ is: "gone", who: name, why: "crashed", message: stderr || String(message) });
    });
  }
}

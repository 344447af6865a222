import type { Command, Vote } from "../../src/node.ts";
import type { Client } from "./client.ts";
import type { Counts } from "./counts.ts";
import { Extensions } from "./extensions.ts";
import { Handles } from "./handles.ts";
import type { Plan } from "./plan.ts";
import { type Invariant, Referee } from "./referee.ts";
import type { Time } from "./time.ts";
import type { Timeline } from "./timeline.ts";
import { Tokens } from "./tokens.ts";
import type { NodeWatcher } from "./watched-node.ts";

export interface CheckerOptions {
  readonly time: Time;
  readonly timeline: Timeline;
  readonly counts: Counts;
  readonly plan: Plan;
}

/** Looks on while a run goes on: after every turn of a process and every command of a server. */
export class Checker {
  readonly referee: Referee;
  readonly handles: Handles;
  readonly tokens: Tokens;
  readonly #extensions: Extensions;

  constructor({ time, timeline, counts, plan }: CheckerOptions) {
    this.referee = new Referee(time, timeline, judgedIn(plan));
    this.tokens = new Tokens(this.referee, counts);
    this.#extensions = new Extensions(time);
    const { referee, tokens } = this;
    this.handles = new Handles({ time, plan, counts, referee, tokens, extensions: this.#extensions });
  }

  watcherOf(client: Client): NodeWatcher {
    return {
      sent: (node, command) => {
        client.note(`→ ${node.name} ${command.kind}`, () => subjectOf(command));
        this.tokens.sent(client, node, command);
        this.#extensions.sent(client, command);
      },
      voted: (node, command, vote) => {
        client.note(`← ${node.name} ${command.kind}: ${vote.vote}`, () => reasonOf(vote));
        this.#extensions.voted(client, command, vote);
      },
    };
  }

  turnEnded(client: Client): void {
    this.tokens.turnEnded();
    this.handles.judge();
    this.handles.judgeExtensions(client);
    this.handles.judgeSignals(client);
  }

  serverChanged(): void {
    this.handles.judge();
    this.handles.judgeKeys();
  }
}

/** With an assumption broken it is the exclusion that breaks, and that is looked for. */
function judgedIn({ hole, forgets }: Plan): (invariant: Invariant) => boolean {
  if (hole !== undefined) return (invariant) => invariant === "mutual exclusion";
  if (!forgets) return () => true;
  return (invariant) => !NEEDS_MEMORY.has(invariant);
}

/** These hold only while servers remember. */
const NEEDS_MEMORY: ReadonlySet<Invariant> = new Set(["mutual exclusion", "keys when handed over", "keys while held"]);

function subjectOf(command: Command): string {
  return command.kind === "inspect" ? command.keys.join("+") : command.token;
}

function reasonOf(vote: Vote): string {
  return vote.vote === "unknown" ? `(${vote.reason}: ${vote.message})` : `(${vote.found.key})`;
}

import type { Command, CommandKind, LockNode, NodeStatus, Vote } from "../../src/node.ts";
import type { Runtime } from "../../src/runtime.ts";

/** What happens to a command instead; `pass` lets it through to the node behind. */
export type Script = (command: Command, pass: () => Promise<Vote>) => Promise<Vote>;

/** The way to a node: remembers what was sent, can hold requests up (their order stays), and can be told to meddle. */
export class RelayNode implements LockNode {
  readonly sent: { readonly command: Command; readonly timeoutMs: number }[] = [];
  /** How long a request is under way before the node carries it out. */
  requestMs = 0;
  script: Script | undefined;
  readonly #node: LockNode;
  readonly #runtime: Runtime;

  constructor(node: LockNode, runtime: Runtime) {
    this.#node = node;
    this.#runtime = runtime;
  }

  get name(): string {
    return this.#node.name;
  }

  send(command: Command, timeoutMs: number): Promise<Vote> {
    this.sent.push({ command, timeoutMs });
    const pass = () => this.#pass(command, timeoutMs);
    return this.script === undefined ? pass() : this.script(command, pass);
  }

  /** Of the commands that were sent, those of a kind; default: all. */
  commands(kind?: CommandKind): Command[] {
    return this.sent.map(({ command }) => command).filter((command) => kind === undefined || command.kind === kind);
  }

  status(): NodeStatus {
    return this.#node.status();
  }

  close(): Promise<void> {
    return this.#node.close();
  }

  #pass(command: Command, timeoutMs: number): Promise<Vote> {
    if (this.requestMs === 0) return this.#node.send(command, timeoutMs);
    return new Promise((resolve) => {
      this.#runtime.setTimer(this.requestMs, () => void this.#node.send(command, timeoutMs).then(resolve));
    });
  }
}

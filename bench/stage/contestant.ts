import { execaNode } from "execa";
import type { Answer, Question, Tasks } from "../worker/tasks.ts";

interface Waiting {
  resolve(output: never): void;
  reject(error: Error): void;
}

/** A library in a process of its own. */
export class Contestant implements AsyncDisposable {
  readonly library: string;
  readonly #process;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;

  private constructor(library: string, program: URL) {
    this.library = library;
    this.#process = execaNode(program, {
      nodeOptions: ["--expose-gc"],
      ipc: true,
      stdout: "inherit",
      stderr: "inherit",
      buffer: false,
      reject: false,
      // It may be deep in a call that hangs.
      killSignal: "SIGKILL",
    });
    this.#process.on("message", (message) => this.#hear(message as unknown as Answer));
    this.#process.on("exit", (code, signal) =>
      this.#end(new Error(`${library}: ended with ${signal ?? `exit code ${code}`}`)),
    );
  }

  /** Resolves when it is connected to all servers. */
  static async open(program: URL, input: Tasks["open"][0]): Promise<Contestant> {
    const contestant = new Contestant(input.library, program);
    try {
      await contestant.ask("open", input);
      return contestant;
    } catch (error) {
      await contestant.stop();
      throw error;
    }
  }

  /** @throws Error when the task fails, or the process ends */
  ask<Task extends keyof Tasks>(task: Task, input: Tasks[Task][0]): Promise<Tasks[Task][1]> {
    const id = this.#nextId++;
    const question: Question = { id, task, input };
    return new Promise<Tasks[Task][1]>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send(question as never, (error) => error && this.#end(error));
    });
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await this.#process;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #hear({ id, output, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(output as never);
    else waiting?.reject(new Error(`${this.library}: ${error}`));
  }

  #end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

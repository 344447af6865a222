import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What a lock protects: a number in a file, and a folder in which whoever is there leaves a mark. Of two who are there at the
 * same time, the one that came later finds the other's mark; which of them that is needs no clock.
 */
export class SharedFile {
  readonly #count: string;
  readonly #marks: string;

  constructor(folder: string, resource: string) {
    this.#count = join(folder, `${resource}.count`);
    this.#marks = join(folder, `${resource}.marks`);
    mkdirSync(this.#marks, { recursive: true });
  }

  /** @returns the marks of others. They are removed: once they have been seen, nobody else needs to. */
  enter(token: string): string[] {
    writeFileSync(join(this.#marks, token), "");
    const others = readdirSync(this.#marks).filter((mark) => mark !== token);
    for (const other of others) this.leave(other);
    return others;
  }

  leave(token: string): void {
    rmSync(join(this.#marks, token), { force: true });
  }

  read(): number {
    try {
      return Number(readFileSync(this.#count, "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
      throw error;
    }
  }

  /** All or nothing, also when the process is killed in the middle of it. */
  write(value: number, token: string): void {
    const draft = `${this.#count}.${token}`;
    writeFileSync(draft, String(value));
    renameSync(draft, this.#count);
  }
}

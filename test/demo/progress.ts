import { colours } from "./colours.ts";
import { sharedNowMs, type Turn } from "./turn.ts";

/** Tells what happens while it happens, a line at a time. */
export class Progress {
  readonly #startedAtMs = sharedNowMs();
  #ticker: NodeJS.Timeout | undefined;
  readonly #codesSeen = new Set<string>();
  #increments = 0;
  #failures = 0;

  say(line: string): void {
    const seconds = ((sharedNowMs() - this.#startedAtMs) / 1_000).toFixed(1);
    console.log(`${colours.dim(`${seconds.padStart(5)} s`)}  ${line}`);
  }

  headline(line: string): void {
    this.say(colours.bold(line));
    // An error is shown where it is new.
    this.#codesSeen.clear();
  }

  /** From the first turn on, the throughput is told each second. */
  count({ incremented, failure }: Turn): void {
    this.#ticker ??= setInterval(() => this.#tick(), 1_000);
    if (incremented) this.#increments += 1;
    if (failure === undefined) return;
    this.#failures += 1;
    if (this.#codesSeen.has(failure.code)) return;
    this.#codesSeen.add(failure.code);
    this.say(`  ${colours.yellow(failure.code)} ${failure.message}`);
  }

  stop(): void {
    clearInterval(this.#ticker);
  }

  #tick(): void {
    this.say(`  ${this.#increments} increments/s, ${this.#failures} failed acquires/s`);
    this.#increments = 0;
    this.#failures = 0;
  }
}

/** One line of a run's story. */
export interface Entry {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
}

/**
 * The story of a run: its hash always, since two runs are the same if and only if their hashes are; its lines only when somebody is
 * going to read them.
 */
export class Timeline {
  readonly entries: Entry[] = [];
  readonly #isRecording: boolean;
  readonly #time = new Float64Array(1);
  readonly #timeWords = new Uint32Array(this.#time.buffer);
  /** FNV-1a, by words for the time and by characters for the rest. */
  #hash = 0x811c9dc5;

  constructor(isRecording: boolean) {
    this.#isRecording = isRecording;
  }

  /** @param detail what only a reader needs; it does not count for the hash */
  note(atMs: number, who: string, what: string, detail?: () => string): void {
    this.#time[0] = atMs;
    this.#mix(this.#timeWords[0] as number);
    this.#mix(this.#timeWords[1] as number);
    for (let index = 0; index < who.length; index += 1) this.#mix(who.charCodeAt(index));
    for (let index = 0; index < what.length; index += 1) this.#mix(what.charCodeAt(index));
    if (this.#isRecording) this.entries.push({ atMs, who, what: detail === undefined ? what : `${what} ${detail()}` });
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  #mix(word: number): void {
    this.#hash = Math.imul(this.#hash ^ word, 0x01000193);
  }
}

import type { Command, CommandKind, Vote } from "../../src/node.ts";
import { wordsOf, wordsOfSeveral } from "../../src/nodes/scripts.ts";
import type { Words } from "./connection.ts";

/** The scripts by their text, learned from the words that the library sends; acquire and repair are one. */
const KIND_OF_SCRIPT: ReadonlyMap<unknown, CommandKind> = new Map(
  (["acquire", "extend", "release", "inspect"] as const).map((kind) => {
    const command = { kind, keys: ["key"], token: "token", ttlMs: 1 };
    return [wordsOf(command, false)[1], kind];
  }),
);

const [, SCRIPT_OF_SEVERAL] = wordsOfSeveral([]);
const KIND_OF_LETTER = { a: "acquire", e: "extend", r: "release", i: "inspect" } as const;
const ARGS_OF_LETTER = { a: 2, e: 2, r: 1, i: 0 } as const;

/** What the words mean to a server where they stand for several commands. */
export function severalOf(words: Words): readonly Command[] | undefined {
  if (words[1] !== SCRIPT_OF_SEVERAL) return undefined;
  const keyCount = Number(words[2]);
  const keys = words.slice(3, 3 + keyCount).map(String);
  const [letters = "", ...args] = words.slice(3 + keyCount).map(String);
  return [...letters].map((letter) => {
    const form = letter.toLowerCase() as keyof typeof KIND_OF_LETTER;
    const own = keys.splice(0, form === letter ? 1 : Number(args.shift()));
    const [token = "", ttlMs = "0"] = args.splice(0, ARGS_OF_LETTER[form]);
    return { kind: KIND_OF_LETTER[form], keys: own, token, ttlMs: Number(ttlMs) };
  });
}

/** What the words mean to a server where they stand for one command. */
export function commandOf(words: Words): Command {
  if (words[0] === "set") {
    return { kind: "acquire", keys: [String(words[1])], token: String(words[2]), ttlMs: Number(words[4]) };
  }
  const kind = KIND_OF_SCRIPT.get(words[1]);
  if (kind === undefined) throw new Error(`no server would know: ${words.join(" ")}`);
  const keyCount = Number(words[2]);
  const keys = words.slice(3, 3 + keyCount).map(String);
  const [token, ttlMs] = words.slice(3 + keyCount);
  return { kind, keys, token: String(token), ttlMs: Number(ttlMs ?? 0) };
}

/** What the script answers where the store votes so. */
export function replyOf(vote: Vote): unknown {
  if (vote.vote === "unknown") throw new Error("a store always knows");
  const { vote: verdict, found } = vote;
  if (verdict === "granted" && found.key === "ours") return 1;
  const carriedOut = verdict === "granted" ? 1 : 0;
  if (found.key !== "another") return [carriedOut, found.key];
  const ttlMs = found.ttlMs === Number.POSITIVE_INFINITY ? -1 : (found.ttlMs ?? -2);
  return [carriedOut, "another", ttlMs, found.type ?? "", found.token ?? ""];
}

/** For the timeline. */
export function describe(command: Command, vote: Vote | undefined): string {
  const token = command.kind === "inspect" ? "" : ` for ${command.token}`;
  const ttl =
    command.kind === "acquire" || command.kind === "extend" || command.kind === "repair"
      ? `, ttl ${command.ttlMs}`
      : "";
  const found = vote === undefined || vote.vote === "unknown" ? "" : ` (${vote.found.key})`;
  return `${command.keys.join("+")}${token}${ttl}${found}`;
}

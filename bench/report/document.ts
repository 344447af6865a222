import { readFile, writeFile } from "node:fs/promises";
import type { Results } from "./results.ts";
import type { Table } from "./table.ts";

const DOCUMENT = new URL("../../docs/benchmarks.md", import.meta.url);

/** Puts a table where the document has a place for it; the prose around it is written by hand. */
export async function writeIntoDocument(results: Results, table: Table): Promise<void> {
  const text = await readFile(DOCUMENT, "utf8");
  const place = new RegExp(`(<!-- ${results.bench} -->\n)[^]*?(<!-- /${results.bench} -->)`);
  if (!place.test(text))
    throw new Error(`docs/benchmarks.md has no place for ${results.bench}: <!-- ${results.bench} -->`);
  const content = `${inMarkdown(table)}\n\n${circumstances(results)}\n`;
  await writeFile(
    DOCUMENT,
    text.replace(place, (_, begin, end) => `${begin}${content}${end}`),
  );
}

function inMarkdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = head.map((name, column) => (column < 2 || name === "remarks" ? "---" : "--:"));
  return [head, rule, ...rows].map(line).join("\n");
}

function circumstances({ machine, versions, date, command, rounds, roundMs }: Results): string {
  const { node, server, ...packages } = versions;
  return [
    `${date}, \`${command}\`: ${rounds} rounds of ${roundMs / 1_000} s each.`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}, Node.js ${node}, ${server}.`,
    `${Object.entries(packages)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}.`,
  ].join("\n");
}

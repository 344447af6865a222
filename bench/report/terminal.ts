import CliTable from "cli-table3";
import type { Table } from "./table.ts";

export function inTerminal({ head, rows }: Table): string {
  const table = new CliTable({
    head: [...head],
    colAligns: head.map((name, column) => (column < 2 || name === "remarks" ? "left" : "right")),
    // The library's own colours do not ask whether there is a terminal.
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) table.push([...row]);
  return table.toString();
}

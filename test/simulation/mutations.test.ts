import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MUTATIONS } from "./mutations.ts";

test.each(Object.entries(MUTATIONS))("can be made still: %s", (_, edits) => {
  for (const [file, instead] of edits) {
    const code = readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");
    expect(code.split(instead).length - 1, `times in ${file}`).toBe(1);
  }
});

import { expect, test } from "vitest";
import { at, type OpenSubject, TTL_MS } from "./open-subject.ts";

const ODD_NAMES = [
  "a}b",
  "{}",
  "{}x",
  "}{",
  "{",
  "{a}{b}",
  "with space\r\nand line",
  "\u0000\u0001\u007f",
  "$3\r\nfoo\r\n*1",
  "ключ-鍵-🔒",
  "__proto__",
  "constructor",
  "%s%d",
  "x".repeat(65_536),
];

const ODD_TOKENS = [
  "0",
  "nil",
  "-1",
  "1e3",
  "OK",
  " ",
  "a\r\nb",
  "\u0000",
  "жетон-🔑",
  '"quoted\\"',
  "t".repeat(10_000),
];

/** Resources and tokens are whatever strings users have: nothing is special about any of them. */
export function describeNames(subject: OpenSubject): void {
  test.each(ODD_NAMES.map((name) => ({ name, shown: JSON.stringify(name.slice(0, 20)) })))(
    "a resource named $shown",
    async ({ name }) => {
      await subject.admin.delete(name);
      expect(await subject.acquire([name], "mine")).toMatchObject({ vote: "granted" });
      await subject.expectKey(name, "mine", TTL_MS);
      expect(await subject.acquire([name], "another")).toMatchObject({ vote: "denied" });
      expect(await subject.inspect(name)).toMatchObject({ found: { token: "mine" } });
      expect(await subject.extend([name], "mine")).toMatchObject({ vote: "granted" });
      expect(await subject.release([name], "mine")).toEqual({ vote: "granted", found: { key: "ours" } });
      expect(await subject.admin.get(name)).toBeUndefined();
    },
  );

  test.each(ODD_TOKENS.map((token) => ({ token, shown: JSON.stringify(token.slice(0, 20)) })))(
    "a token $shown",
    async ({ token }) => {
      const { keys } = await subject.prepare(["absent", "absent"]);
      expect(await subject.acquire(keys, token)).toMatchObject({ vote: "granted" });
      expect(await subject.release(keys, `${token}x`)).toMatchObject({ found: { key: "another" } });
      expect(await subject.extend(keys, token)).toMatchObject({ vote: "granted" });
      expect(await subject.inspect(at(keys, 0))).toMatchObject({ found: { token } });
      expect(await subject.release(keys, token)).toEqual({ vote: "granted", found: { key: "ours" } });
    },
  );
}

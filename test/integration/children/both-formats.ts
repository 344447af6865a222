/** `require()` and `import` of the package in one program: two copies of it. */
import { createRequire } from "node:module";
import { builtPackage } from "../../support/built.ts";

const esm = await builtPackage();
const cjs = createRequire(import.meta.url)("redlock-quorum") as typeof esm;
const { MemoryNode } = createRequire(import.meta.url)("redlock-quorum/testing");

async function failure({ Redlock }: typeof esm): Promise<unknown> {
  const redlock = new Redlock([new MemoryNode()]);
  await redlock.close();
  return redlock.acquire("a", 1_000).catch((error: unknown) => error);
}

const [fromEsm, fromCjs] = [await failure(esm), await failure(cjs)];
console.log(
  JSON.stringify({
    twoCopies: esm.Redlock !== cjs.Redlock,
    recognised: [fromEsm, fromCjs].flatMap((error) => [esm.RedlockError.is(error), cjs.RedlockError.is(error)]),
    others: [esm.RedlockError.is(new Error("other")), cjs.RedlockError.is(undefined)],
  }),
);

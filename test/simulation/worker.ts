import { type Batch, runBatch } from "./batch.ts";
import { outsideReactions } from "./microtasks.ts";

/** A process that runs the batches it is sent, and answers each with its result. */
process.on("message", async (batch: Batch) => {
  const result = await outsideReactions(() => runBatch(batch));
  process.send?.(result);
});

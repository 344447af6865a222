import { describe, expect, test } from "vitest";
import { Admission } from "../../src/admission.ts";
import { Patience } from "../../src/patience.ts";
import { microtasks, VirtualRuntime } from "../support/virtual-runtime.ts";

const REASON = new Error("cancelled");

function crowd(size: number) {
  const runtime = new VirtualRuntime();
  const admission = new Admission(size);
  const admitted: string[] = [];
  const come = (name: string, withinMs?: number) => {
    const patience = new Patience(runtime, Number.POSITIVE_INFINITY, undefined);
    const entered = admission.enter(patience, withinMs).then((isIn) => {
      if (isIn) admitted.push(name);
      return isIn;
    });
    return { patience, entered };
  };
  return { runtime, admission, admitted, come };
}

describe("an admission", () => {
  test("lets so many in, and the others in the order of their coming", async () => {
    const { admission, admitted, come } = crowd(2);
    for (const name of ["a", "b", "c", "d"]) come(name);
    await microtasks();
    expect(admitted).toEqual(["a", "b"]);
    admission.leave();
    await microtasks();
    expect(admitted).toEqual(["a", "b", "c"]);
    admission.leave();
    admission.leave();
    await microtasks();
    come("e");
    await microtasks();
    expect(admitted).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("who is cancelled, or waits for too long, does not take a place", async () => {
    const { runtime, admission, admitted, come } = crowd(1);
    come("a");
    const cancelled = come("b");
    const late = come("c", 50);
    come("d");
    cancelled.patience.cancel(REASON);
    await runtime.advance(60);
    expect(await cancelled.entered).toBe(false);
    expect(await late.entered).toBe(false);
    admission.leave();
    await microtasks();
    expect(admitted).toEqual(["a", "d"]);
    admission.leave();
    come("e");
    await microtasks();
    expect(admitted).toEqual(["a", "d", "e"]);
  });

  test("who is admitted in the very turn of its cancellation has the place, and leaves it", async () => {
    const { admission, admitted, come } = crowd(1);
    come("a");
    await microtasks();
    const both = come("b");
    admission.leave();
    both.patience.cancel(REASON);
    expect(await both.entered).toBe(true);
    admission.leave();
    come("c");
    await microtasks();
    expect(admitted).toEqual(["a", "b", "c"]);
  });
});

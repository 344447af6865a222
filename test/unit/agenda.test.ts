import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agenda } from "../../src/agenda.ts";
import type { Timer } from "../../src/runtime.ts";
import { VirtualRuntime } from "../support/virtual-runtime.ts";

type Deed =
  | { readonly is: "set"; readonly delayMs: number }
  | { readonly is: "cancel"; readonly which: number }
  | { readonly is: "advance"; readonly ms: number };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ is: fc.constant("set" as const), delayMs: fc.integer({ min: 1, max: 50 }) }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant("cancel" as const), which: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("advance" as const), ms: fc.integer({ min: 1, max: 20 }) }) },
);

/** What happens when, with timers of either kind. */
async function play(deeds: readonly Deed[], timersOf: (runtime: VirtualRuntime) => Pick<VirtualRuntime, "setTimer">) {
  const runtime = new VirtualRuntime();
  const timers = timersOf(runtime);
  const set: Timer[] = [];
  const ran: string[] = [];
  for (const each of deeds) {
    if (each.is === "set") {
      const ordinal = set.length;
      set.push(timers.setTimer(each.delayMs, () => ran.push(`${ordinal} at ${runtime.nowMs()}`)));
    } else if (each.is === "cancel") set[each.which % Math.max(1, set.length)]?.cancel();
    else await runtime.advance(each.ms);
  }
  await runtime.advance(100);
  return { ran, pending: runtime.pendingTimers };
}

describe("an agenda", () => {
  test("runs what the runtime's own timers would have run, when and in the order in which they would", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 400 }), async (deeds) => {
        const agenda = await play(deeds, (runtime) => new Agenda(runtime));
        expect(agenda).toEqual(await play(deeds, (runtime) => runtime));
      }),
      { numRuns: 60 },
    );
  });

  test("has one timer of the runtime, and none when there is nothing to do", () => {
    const runtime = new VirtualRuntime();
    const agenda = new Agenda(runtime);
    const timers = [30, 10, 20].map((delayMs) => agenda.setTimer(delayMs, () => {}));
    expect(runtime.pendingTimers).toBe(1);
    for (const timer of timers) timer.cancel();
    expect(runtime.pendingTimers).toBe(0);
  });

  test("one that an earlier one of the same moment cancels does not run", async () => {
    const runtime = new VirtualRuntime();
    const agenda = new Agenda(runtime);
    const ran: string[] = [];
    const later: Timer[] = [];
    agenda.setTimer(10, () => {
      ran.push("first");
      for (const timer of later) timer.cancel();
    });
    later.push(agenda.setTimer(10, () => ran.push("second")));
    await runtime.advance(20);
    expect(ran).toEqual(["first"]);
    agenda.setTimer(5, () => ran.push("third"));
    await runtime.advance(20);
    expect(ran).toEqual(["first", "third"]);
  });

  test("one that is set for at once, by one that runs, runs", async () => {
    const runtime = new VirtualRuntime();
    const agenda = new Agenda(runtime);
    let rounds = 0;
    const again = () => {
      rounds += 1;
      if (rounds < 5) agenda.setTimer(0, again);
    };
    agenda.setTimer(0, again);
    await runtime.advance(20);
    expect(rounds).toBe(5);
  });

  test("what was cancelled is forgotten long before it would have been due", () => {
    const runtime = new VirtualRuntime();
    const agenda = new Agenda(runtime);
    const kept = agenda.setTimer(3_600_000, () => {});
    const forgotten = Array.from({ length: 1_000 }, () => {
      const referent = { big: new Array(10) };
      agenda.setTimer(3_600_000, () => referent.big.pop()).cancel();
      return agenda.size;
    });
    expect(Math.max(...forgotten)).toBeLessThan(200);
    kept.cancel();
    expect(agenda.size).toBe(0);
  });
});

import { describe, expect, test } from "vitest";
import { Stopwatch } from "../../../src/runtime.ts";
import { microtasks, VirtualRuntime } from "../../support/virtual-runtime.ts";

describe("virtual time", () => {
  test("timers run in order of their time, those of one time in the order they were set", async () => {
    const runtime = new VirtualRuntime();
    const startMs = runtime.nowMs();
    const ran: string[] = [];
    const note = (name: string) => () => ran.push(`${name} at ${runtime.nowMs() - startMs}`);
    runtime.setTimer(30, note("c"));
    runtime.setTimer(10, note("a"));
    runtime.setTimer(10, note("b"));
    runtime.setTimer(20, note("cancelled")).cancel();
    await runtime.advance(29);
    expect(ran).toEqual(["a at 10", "b at 10"]);
    await runtime.advance(1);
    expect(ran).toEqual(["a at 10", "b at 10", "c at 30"]);
    expect(runtime.nowMs() - startMs).toBe(30);
  });

  test("promises settle between one timer and the next", async () => {
    const runtime = new VirtualRuntime();
    const ran: string[] = [];
    runtime.setTimer(10, async () => {
      for (let turn = 0; turn < 50; turn += 1) await undefined;
      ran.push("fifty turns after the first timer");
      runtime.setTimer(0, () => ran.push("timer set meanwhile"));
    });
    runtime.setTimer(20, () => ran.push("second timer"));
    await runtime.advance(20);
    expect(ran).toEqual(["fifty turns after the first timer", "timer set meanwhile", "second timer"]);
  });

  test("what waits for arrivals runs after all that is already due", async () => {
    const runtime = new VirtualRuntime();
    const ran: string[] = [];
    runtime.setTimer(10, () => runtime.afterArrivals(() => ran.push("after arrivals")));
    runtime.setTimer(15, () => ran.push("an arrival"));
    runtime.setTimer(40, () => ran.push("later"));
    runtime.block(20);
    await runtime.advance(20);
    expect(ran).toEqual(["an arrival", "after arrivals", "later"]);
  });

  test("a timer that is armed again and again does not stop time", async () => {
    const runtime = new VirtualRuntime();
    const again = () => void runtime.setTimer(0, again);
    again();
    await runtime.advance(100);
    expect(runtime.pendingTimers).toBe(1);
  });
});

describe("run", () => {
  test("gives the outcome at the time when it comes", async () => {
    const runtime = new VirtualRuntime();
    const startMs = runtime.nowMs();
    runtime.setTimer(1_000, () => {});
    const value = new Promise<string>((resolve) => runtime.setTimer(70, () => resolve("done")));
    expect(await runtime.run(value)).toBe("done");
    expect(runtime.nowMs() - startMs).toBe(70);
    await expect(runtime.run(Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  });

  test("fails when nothing is left that could settle it", async () => {
    const never = new Promise(() => {});
    await expect(new VirtualRuntime().run(never)).rejects.toThrow("no timer is left that could settle it");
  });

  test("fails when its time is up", async () => {
    const runtime = new VirtualRuntime();
    const again = () => void runtime.setTimer(10, again);
    again();
    await expect(runtime.run(new Promise(() => {}), 95)).rejects.toThrow("pending after 90 of 95 virtual ms");
  });
});

describe("clocks", () => {
  const clocks = (runtime: VirtualRuntime) => [runtime.nowMs(), runtime.wallMs(), runtime.uptimeMs()];
  const moved = (change: (runtime: VirtualRuntime) => void) => {
    const runtime = new VirtualRuntime();
    const before = clocks(runtime);
    change(runtime);
    return clocks(runtime).map((ms, clock) => ms - (before[clock] ?? 0));
  };

  test.each([
    { what: "blocked", change: (runtime: VirtualRuntime) => runtime.block(50), movedMs: [50, 50, 50] },
    { what: "suspended", change: (runtime: VirtualRuntime) => runtime.suspend(50), movedMs: [0, 50, 50] },
    { what: "set forward", change: (runtime: VirtualRuntime) => runtime.stepWall(50), movedMs: [0, 50, 0] },
    { what: "set back", change: (runtime: VirtualRuntime) => runtime.stepWall(-50), movedMs: [0, -50, 0] },
  ])("$what: monotonic, wall clock and uptime move by $movedMs ms", ({ change, movedMs }) => {
    expect(moved(change)).toEqual(movedMs);
  });

  test("a stopwatch counts suspension, and does not go back with the wall clock", () => {
    const runtime = new VirtualRuntime();
    const stopwatch = new Stopwatch(runtime);
    runtime.block(10);
    expect(stopwatch.elapsedMs()).toBe(10);
    runtime.suspend(100);
    expect(stopwatch.elapsedMs()).toBe(110);
    runtime.stepWall(-1_000);
    expect(stopwatch.elapsedMs()).toBe(110);
  });
});

describe("chance", () => {
  test("is the same for the same seed, and lies in [0, 1)", () => {
    const draw = (seed: number) => {
      const runtime = new VirtualRuntime({ seed });
      return Array.from({ length: 1_000 }, () => runtime.random());
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7).every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = draw(7).reduce((sum, value) => sum + value, 0) / 1_000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
  });

  test("tokens are all different, also between machines", () => {
    const tokens = [1, 2].flatMap((seed) => {
      const runtime = new VirtualRuntime({ seed });
      return Array.from({ length: 100 }, () => runtime.newToken());
    });
    expect(new Set(tokens).size).toBe(200);
    expect(tokens[0]).toMatch(/^[0-9a-f]{32}$/);
  });
});

test("microtasks() lets every promise that can settle do so", async () => {
  let turns = 0;
  void (async () => {
    while (turns < 1_000) turns += await 1;
  })();
  await microtasks();
  expect(turns).toBe(1_000);
});

import { defineConfig } from "vitest/config";

/** What has to notice a mutant: tests that need no server, without those that look at the sources' text or wait in real time. */
export default defineConfig({
  test: {
    include: ["test/unit/**/*.test.ts", "test/simulation/{simulation,regressions}.test.ts"],
    exclude: ["test/unit/layers.test.ts", "test/unit/system-runtime.test.ts"],
    // With a flaw in the simulated nodes a violation is what is wanted; and a wrong run can be repeated as well as a right one.
    testNamePattern: /^(?!the simulator finds|one seed is one run|time limits row 18)/,
    fileParallelism: false,
    testTimeout: 30_000,
    env: { SIMULATION_SEEDS: "300" },
  },
});

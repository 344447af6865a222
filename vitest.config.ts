import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{test,bench}/**/*.test.ts"],
    globalSetup: "test/setup/global.ts",
    // Each test file is a process of its own: what it started ends with it (test/fixture/scratch.ts).
    pool: "forks",
    // One after another: tests with five servers and timeouts of 250 ms need the few cores for themselves.
    fileParallelism: false,
    // Limits, not waits: a test ends as soon as what it waits for has happened.
    testTimeout: 30_000,
    hookTimeout: 90_000,
    coverage: {
      // What the simulation has to reach by itself (docs/testing.md).
      include: ["src/core/*.ts", "src/{redlock,acquisition,held-lock,extension,keeper,deadline,patience,round}.ts"],
      reporter: ["text"],
    },
  },
});

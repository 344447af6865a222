import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts", "src/testing.ts"],
  format: ["esm", "cjs"],
  platform: "node",
  target: "node20.19",
  fixedExtension: false,
  dts: true,
  logLevel: "error",
});

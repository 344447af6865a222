import { defineConfig, type UserConfig } from "tsdown";

const shared: UserConfig = {
  entry: ["src/index.ts", "src/testing.ts"],
  platform: "node",
  target: "node20.19",
  fixedExtension: false,
  dts: true,
  logLevel: "error",
};

export default defineConfig([
  { ...shared, format: "esm" },
  // p-limit is published as ESM only: require() would fail at run time if it stayed external in the CommonJS build.
  { ...shared, format: "cjs", clean: false, deps: { alwaysBundle: ["p-limit", "yocto-queue"] } },
]);

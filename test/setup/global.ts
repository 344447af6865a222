import type {} from "vitest";
import type { TestProject } from "vitest/node";
import { containerEngine, ensureImage, IMAGES } from "./engine.ts";
import { ensureServer, type ServerSource } from "./program.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** What the fixture's servers run in by default. */
    server: ServerSource;
    /** The container engine that answers, as `Docker 20.10.24`, or null. */
    engine: string | null;
    /** The images that are here. All of `IMAGES` in CI; none without an engine. */
    images: string[];
  }
}

/** Finds out, before all tests, what this machine can run them on, and says plainly what is left out and why. */
export default async function setup({ provide }: TestProject): Promise<void> {
  provide("server", await ensureServer());

  const engine = await containerEngine();
  const images: string[] = [];
  const missing: string[] = engine === undefined ? ["no container engine answers"] : [];
  for (const image of engine === undefined ? [] : IMAGES) {
    const reason = await ensureImage(image);
    if (reason === undefined) images.push(image);
    else missing.push(`${image} cannot be had (${reason})`);
  }
  provide("engine", engine ?? null);
  provide("images", images);
  if (missing.length === 0) return;
  // What CI leaves out unseen is not tested at all.
  if (process.env.CI) throw new Error(`CI must run the container tests, but ${missing.join("; ")}.`);
  console.log(`Container tests are left out: ${missing.join("; ")}.`);
}

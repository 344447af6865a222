import { MemoryNode } from "../../src/nodes/memory.ts";
import { lockNodeContract } from "./contract.ts";

lockNodeContract("in memory", async () => {
  const node = new MemoryNode();
  return {
    node,
    admin: {
      get: async (key) => node.get(key),
      ttlMs: async (key) => node.ttlMs(key),
      set: async (key, value, ttlMs) => node.set(key, value, ttlMs === undefined ? {} : { ttlMs }),
      makeHash: async (key) => node.set(key, "", { type: "hash" }),
      delete: async (key) => void node.delete(key),
    },
    dispose: () => node.close(),
  };
});

/**
 * For tests of code that uses locks: nodes that live in the process, so that no server is needed.
 *
 *     import { Redlock } from "redlock-quorum";
 *     import { MemoryNode } from "redlock-quorum/testing";
 *
 *     const nodes = [new MemoryNode(), new MemoryNode(), new MemoryNode()];
 *     const redlock = new Redlock(nodes);
 */
export { MemoryNode, type MemoryNodeOptions, type MemoryValueOptions } from "./nodes/memory.js";

import { setTimeout as sleep } from "node:timers/promises";
import { anyLengthMs, everywhere, type NodeFault, noLengthMs, nothing } from "./fault.ts";

/** @param delayMs in each direction */
function delayed(name: string, delayMs: number): NodeFault {
  return {
    name,
    part: "network",
    available: everywhere,
    lengthMs: anyLengthMs,
    async inject(node) {
      node.proxy.delayMs(delayMs);
    },
    async heal(node) {
      node.proxy.delayMs(0);
    },
  };
}

export const SLOW = delayed("network slow", 60);
/** Longer than a round listens. */
export const TOO_SLOW = delayed("network too slow", 300);

function oneWay(name: string, direction: "up" | "down"): NodeFault {
  return {
    name,
    part: "network",
    available: everywhere,
    lengthMs: anyLengthMs,
    async inject(node) {
      node.proxy.stop(direction);
    },
    async heal(node) {
      node.proxy.resume();
    },
  };
}

export const REQUESTS_STOPPED = oneWay("requests stopped", "up");
export const REPLIES_STOPPED = oneWay("replies stopped", "down");

export const CUT: NodeFault = {
  name: "connections cut",
  part: "network",
  available: everywhere,
  lengthMs: noLengthMs,
  async inject(node) {
    node.proxy.cut();
  },
  heal: nothing,
};

/** What clients had sent reaches the server all the same, and may overtake what they send on new connections. */
export const CUT_LATE: NodeFault = {
  name: "connections cut, requests come late",
  part: "network",
  available: everywhere,
  lengthMs: (chance) => chance.magnitude(100, 1_500),
  async inject(node) {
    node.proxy.stop("up");
    await sleep(20);
    node.proxy.cut("client");
  },
  async heal(node) {
    node.proxy.resume();
  },
};

export const REFUSED: NodeFault = {
  name: "connections cut and refused",
  part: "network",
  available: everywhere,
  lengthMs: anyLengthMs,
  async inject(node) {
    node.proxy.refuse();
    node.proxy.cut();
  },
  heal: (node) => node.proxy.accept(),
};

export const HANGING: NodeFault = {
  name: "connections cut, new ones lead nowhere",
  part: "network",
  available: everywhere,
  lengthMs: anyLengthMs,
  async inject(node) {
    node.proxy.hang();
    node.proxy.cut();
  },
  heal: (node) => node.proxy.accept(),
};

const WRITE = /^(set|eval) /i;
/** A limit: without traffic there is no reply to swallow. */
const SWALLOW_LIMIT_MS = 1_000;

export const REPLY_SWALLOWED: NodeFault = {
  name: "reply swallowed",
  part: "network",
  available: everywhere,
  lengthMs: noLengthMs,
  async inject(node) {
    let isOver = false;
    const swallowed = node.proxy.swallowReply((request) => !isOver && WRITE.test(request));
    await Promise.race([swallowed, sleep(SWALLOW_LIMIT_MS)]);
    isOver = true;
  },
  heal: nothing,
};

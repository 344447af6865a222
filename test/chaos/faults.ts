import type { Master } from "../fixture/masters.ts";

export interface Fault {
  readonly name: string;
  begin(masters: readonly Master[]): Promise<unknown>;
  /** The masters are well afterwards. */
  end(masters: readonly Master[]): Promise<unknown>;
}

const all = (masters: readonly Master[], act: (master: Master) => Promise<void>) => Promise.all(masters.map(act));

export const KILLED: Fault = {
  name: "killed, and back with their data",
  begin: (masters) => all(masters, (master) => master.kill()),
  end: (masters) => all(masters, (master) => master.restart({ data: "kept" })),
};

export const FROZEN: Fault = {
  name: "frozen",
  begin: (masters) => all(masters, (master) => master.freeze()),
  end: (masters) => all(masters, (master) => master.thaw()),
};

const RESTARTED: Fault = {
  name: "restarted empty",
  begin: (masters) => all(masters, (master) => master.restart({ data: "empty" })),
  end: async () => {},
};

export const FAULTS = [KILLED, FROZEN, RESTARTED];

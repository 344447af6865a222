import type { Masters } from "../fixture/masters.ts";

export interface Phase {
  readonly name: "healthy" | "two dead" | "three dead" | "all back";
  readonly headline: string;
  /** What has to be seen: increments go on, or there are none and each failure says that there is no quorum. */
  readonly expected: "progress" | "standstill";
  /** Makes it so. Resolves when it is so. */
  enter(masters: Masters): Promise<unknown>;
}

/** What the demo tells, in order. A lock needs three of the five. */
export const STORY: readonly Phase[] = [
  {
    name: "healthy",
    headline: "all five masters are up",
    expected: "progress",
    enter: async () => {},
  },
  {
    name: "two dead",
    headline: "redis-4 and redis-5 get SIGKILL: three of five are a quorum, so nobody should notice",
    expected: "progress",
    enter: (masters) => Promise.all([masters.at(3).kill(), masters.at(4).kill()]),
  },
  {
    name: "three dead",
    headline: "redis-3 gets SIGKILL too: the quorum is lost, so every acquire has to fail and say why",
    expected: "standstill",
    enter: (masters) => masters.at(2).kill(),
  },
  {
    name: "all back",
    headline: "redis-3, redis-4 and redis-5 start again, empty: the work goes on",
    expected: "progress",
    // A master that forgot a lock must not vote before that lock has ended. Here it was dead for longer than any lock lives.
    enter: (masters) => Promise.all([2, 3, 4].map((index) => masters.at(index).restart({ data: "empty" }))),
  },
];

import type { Time } from "./time.ts";
import type { Timeline } from "./timeline.ts";

/** What must hold in every run that stays within bounds. */
export type Invariant =
  /** Never two handles of one resource held at one true instant. */
  | "mutual exclusion"
  /** A lock that is returned is held at that moment. */
  | "held when handed over"
  /** For what the ttl leaves after the winning attempt and the drift, neither less nor more. */
  | "validity when handed over"
  /** And its keys live on a quorum. */
  | "keys when handed over"
  /** While it is held they do, unless servers lost data. */
  | "keys while held"
  /** The signal has aborted when the validity is over: after a pause, at the end of the first timer turn. */
  | "signal in time"
  /** When the nodes that did not deny an extension are no quorum any more, the lock is lost. */
  | "loss is noticed"
  /** A handle that was over is never held again. */
  | "lost for good"
  /** Once another one got the resource, no extension that is sent after that succeeds: a lost lock is not taken back in silence. */
  | "not taken back"
  /** Every call settles, and in its time. */
  | "calls settle"
  /** A call rejects with an error that its documentation names. */
  | "known errors"
  /** A token belongs to one attempt. */
  | "token of its own"
  /** Once a release has begun nothing sets or prolongs its keys. */
  | "no write after release"
  /** A release is sent to every node, and every token is released in the end. */
  | "release everywhere"
  /** Once faults are over, keys that nobody holds go at once. */
  | "nothing left at once"
  /** One ttl after silence no key is left. */
  | "nothing left"
  /** Once faults are over, nodes vote again. */
  | "nodes recover"
  /** Once faults are over, who waits gets the lock. */
  | "waiters are served"
  /** And keeps it for as long as it is extended, whichever minority of the servers forgets it or is silent. */
  | "kept by itself"
  /** Nothing is held after `close()`. */
  | "close ends all";

export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
  readonly atMs: number;
}

/** The first violation ends the run: what follows from it would only hide it. */
export class Referee {
  violation: Violation | undefined;
  readonly #time: Time;
  readonly #timeline: Timeline;
  readonly #isJudged: (invariant: Invariant) => boolean;

  /** @param isJudged what is known to break outside of the stated bounds proves nothing there */
  constructor(time: Time, timeline: Timeline, isJudged: (invariant: Invariant) => boolean) {
    this.#time = time;
    this.#timeline = timeline;
    this.#isJudged = isJudged;
  }

  report(invariant: Invariant, message: string): void {
    if (this.violation !== undefined || !this.#isJudged(invariant)) return;
    this.violation = { invariant, message, atMs: this.#time.nowMs };
    this.#timeline.note(this.#time.nowMs, "referee", `VIOLATION of "${invariant}": ${message}`);
    this.#time.stop();
  }
}

import type { EventOf, HistoryEvent } from "./history.ts";

/** One lock in the hands of its holder, as the history tells it. */
export interface Hold {
  readonly granted: EventOf<"granted">;
  /** When the library said how long it is held: at the grant, and after each extension. */
  readonly looks: readonly (EventOf<"granted"> | EventOf<"held">)[];
  readonly losses: readonly EventOf<"lost">[];
  readonly left: EventOf<"left"> | undefined;
  /**
   * Until then its holder counted on it. What an extension that the holder has not seen any more would have added is missing: it was
   * paused or killed, and claims nothing any more.
   */
  readonly untilMs: number;
}

export function holdsIn(history: readonly HistoryEvent[]): Hold[] {
  const holds = new Map<string, Hold & { looks: Hold["looks"][number][]; losses: EventOf<"lost">[] }>();
  const duplicates: Hold[] = [];
  for (const event of history) {
    if (event.is === "granted") {
      const hold = { granted: event, looks: [event], losses: [], left: undefined, untilMs: event.validUntilMs };
      // The same token twice is for the checker to see.
      if (holds.has(event.token)) duplicates.push(hold);
      else holds.set(event.token, hold);
    }
    if (event.is !== "held" && event.is !== "lost" && event.is !== "left") continue;
    const hold = holds.get(event.token);
    if (hold === undefined) continue;
    if (event.is === "held") hold.looks.push(event);
    else if (event.is === "lost") hold.losses.push(event);
    else holds.set(event.token, { ...hold, left: event });
  }
  return [...holds.values(), ...duplicates].map((hold) => ({ ...hold, untilMs: endOf(hold) }));
}

function endOf({ looks, losses, left }: Hold): number {
  const validUntilMs = Math.max(...looks.map((look) => look.validUntilMs));
  return Math.min(validUntilMs, left?.atMs ?? validUntilMs, ...losses.map(({ atMs }) => atMs));
}

import type { Flight } from "./flights.js";
import type { Release } from "./kept-releases.js";
import { isWrite, tokenOf } from "./request.js";

/**
 * A Cluster client sends a command again when a connection ends or a slot moves: an acquire may then run after the release that was
 * sent behind it. So that release is sent once more when the fate of the acquire is known.
 */
export class Resends {
  /** Writes that the client has not settled, also when they have long landed here, and the release to send behind each. */
  readonly #unsettled = new Map<Flight, Release | undefined>();

  sent(flight: Flight): void {
    for (const { command } of flight.requests) {
      if (command.kind === "release") this.repeatBehindWrites(command);
      if (isWrite(command)) this.#unsettled.set(flight, undefined);
    }
  }

  repeatBehindWrites(release: Release): void {
    for (const flight of this.#unsettled.keys()) {
      if (flight.requests.some(({ command }) => tokenOf(command) === release.token))
        this.#unsettled.set(flight, release);
    }
  }

  /** @returns the release that has to be sent once more */
  settled(flight: Flight): Release | undefined {
    const release = this.#unsettled.get(flight);
    this.#unsettled.delete(flight);
    return release;
  }
}

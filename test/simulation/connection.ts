import type { Link } from "./network.ts";
import { Pipe } from "./network.ts";
import type { Time } from "./time.ts";

export type Words = readonly (string | number)[];

export type ToServer =
  | { readonly is: "open" }
  | { readonly is: "command"; readonly words: Words }
  | { readonly is: "end" };

export type ToClient =
  | { readonly is: "opened" }
  | { readonly is: "reply"; readonly reply: unknown }
  | { readonly is: "error"; readonly message: string }
  /** Closed by the other side, or refused. */
  | { readonly is: "end" };

interface Ends {
  toServer(connection: Connection, message: ToServer): void;
  toClient(connection: Connection, message: ToClient): void;
}

/** A TCP connection: two pipes, and two ends that can have different views of whether it is open. */
export class Connection {
  /** As the server counts (CLIENT ID); 0 until it has accepted. */
  id = 0;
  isOpenAtServer = false;
  isOpenAtClient = true;
  readonly link: Link;
  readonly requests: Pipe<ToServer>;
  readonly replies: Pipe<ToClient>;

  constructor(time: Time, link: Link, ends: Ends) {
    this.link = link;
    this.requests = new Pipe(time, link.toServer, (message) => ends.toServer(this, message));
    this.replies = new Pipe(time, link.toClient, (message) => ends.toClient(this, message));
  }
}

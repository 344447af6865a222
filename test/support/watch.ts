import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Collects what a diagnostics channel carries, until it is disposed of. */
export function watch(name: string): Disposable & { readonly messages: unknown[] } {
  const messages: unknown[] = [];
  const listener = (message: unknown) => void messages.push(message);
  subscribe(name, listener);
  return { messages, [Symbol.dispose]: () => void unsubscribe(name, listener) };
}

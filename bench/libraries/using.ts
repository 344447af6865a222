import type { Kept } from "./library.ts";

type Using = (routine: (signal: AbortSignal) => Promise<void>) => Promise<unknown>;

/** A lock that lives as long as a routine: here one that ends when the lock is to be released. */
export function keepByUsing(using: Using): Promise<Kept> {
  return new Promise((resolve, reject) => {
    const ended = using(
      (signal) =>
        new Promise((end) => {
          const release = () => {
            end();
            return ended;
          };
          resolve({ isHeld: () => !signal.aborted, release });
        }),
    );
    ended.catch(reject);
  });
}

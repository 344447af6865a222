const LATE = Symbol("late");

/** What the promise resolves to, or undefined when that takes longer than the limit. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, limitMs, LATE);
  });
  const first = await Promise.race([promise, limit]);
  clearTimeout(timer);
  return first === LATE ? undefined : first;
}

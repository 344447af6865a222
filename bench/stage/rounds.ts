/** A B C, B C A, C A B: everybody comes after everybody, so that what drifts on the machine hits all alike. */
export function* interleaved<T>(contestants: readonly T[], rounds: number): Generator<T> {
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      yield contestants[(round + turn) % contestants.length] as T;
    }
  }
}

/** A store that cannot be opened or read, in a sentence for the operator: it names no password. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** A store that is known not to answer, and was not asked. */
export class StoreAwayError extends StoreError {}

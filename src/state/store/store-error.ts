/** A store that cannot be opened or read, as a sentence for the operator without passwords. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Error of a store that is down and was not asked. */
export class StoreDownError extends StoreError {}

/** Error of a call that got no connection in time, as all were in use; the server itself is up. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError';
  readonly code = 'STORE_BUSY';
}

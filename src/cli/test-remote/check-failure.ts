/** Failed check; its message says what the server did. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
}

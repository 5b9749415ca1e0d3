/** Whether no half of a surrogate pair stands alone (`String.prototype.isWellFormed`, which ES2023 lacks). */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

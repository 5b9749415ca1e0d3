/** All of these bytes; a single piece is given as it is. */
export function joinBytes(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first && pieces.length === 1 ? first : Buffer.concat(pieces);
}

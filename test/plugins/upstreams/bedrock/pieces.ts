/** Bytes cut at some of these offsets. */
export function inPieces(bytes: Buffer, at: readonly number[]): readonly Buffer[] {
  const cuts = [0, ...new Set(at.filter((cut) => cut < bytes.length)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

import { createHash } from 'node:crypto';

/** The next number of a repeatable sequence, in [0, 1). */
export type Random = () => number;

/** A sequence that depends on `seed` alone (mulberry32): the same request gets the same answer. */
export function randomFrom(seed: string): Random {
  let state = createHash('sha1').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from `least` to `most`, both included. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** An id in the vendor's form, `toolu_01` and 22 letters or digits, that depends on `seed` alone. */
export function idFrom(prefix: string, seed: string): string {
  const digest = createHash('sha256').update(prefix).update(seed).digest('base64url');
  return `${prefix}_01${digest.replaceAll(/[-_]/g, 'x').slice(0, 22)}`;
}

import { randomBytes } from 'node:crypto';

/**
 * Returns 32 hexadecimal digits: the time, 48 random bits of the process, and a counter. Consecutive ids are neighbours in
 * an index of the store; random ids would make each row write a page of its own.
 */
export function timeOrderedId(): string {
  counter = (counter + 1) >>> 0;
  return timeNow() + ofProcess + hexOfWord(counter);
}

/** The time in 12 digits, written once a millisecond: V8 is slow to write a number in another base than ten. */
function timeNow(): string {
  const nowMs = Date.now();
  if (nowMs !== time.ms) time = { ms: nowMs, text: nowMs.toString(16).padStart(12, '0') };
  return time.text;
}

let time = { ms: 0, text: '' };

function hexOfWord(word: number): string {
  return hexOfByte(word >>> 24) + hexOfByte(word >>> 16) + hexOfByte(word >>> 8) + hexOfByte(word);
}

function hexOfByte(word: number): string {
  return bytes[word & 0xff] ?? '';
}

const bytes: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const ofProcess = randomBytes(6).toString('hex');

/** Begins at a random number, so that an id does not show the age of its process. */
let counter = randomBytes(4).readUInt32BE();

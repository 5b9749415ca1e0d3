import { randomBytes } from 'node:crypto';

/** Caller's `X-Request-ID` if it is printable ASCII of max 200 characters, else a new one. */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && printable.test(header) ? header : newRequestId();
}

function newRequestId(): string {
  return `req_${timeOrderedId()}`;
}

/**
 * Returns 32 hexadecimal digits: the time, 48 random bits of the process, and a counter. Consecutive ids are neighbours in
 * an index of the store; random ids would make each row write a page of its own.
 */
export function timeOrderedId(): string {
  counter = (counter + 1) >>> 0;
  return hex(Date.now(), 12) + ofProcess + hex(counter, 8);
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}

const ofProcess = randomBytes(6).toString('hex');

/** Begins at a random number, so that an id does not show the age of its process. */
let counter = randomBytes(4).readUInt32BE();

const printable = /^[\x20-\x7e]{1,200}$/;

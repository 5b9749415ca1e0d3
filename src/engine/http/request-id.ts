import { randomFillSync } from 'node:crypto';

/** Caller's `X-Request-ID` if it is printable ASCII of max 200 characters, else a new one. */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && printable.test(header) ? header : newRequestId();
}

function newRequestId(): string {
  return `req_${timeOrderedId()}`;
}

/**
 * Returns 32 hexadecimal digits: the time, then 80 random bits. Consecutive ids are neighbours in an index of
 * the store; random ids would make each row write a page of its own.
 */
export function timeOrderedId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += randomBytes;
  return Date.now().toString(16).padStart(12, '0') + pool.toString('hex', used - randomBytes, used);
}

const randomBytes = 10;

/** Random bytes of the next ids, drawn at once. */
const pool = Buffer.alloc(512 * randomBytes);
let used = pool.length;

const printable = /^[\x20-\x7e]{1,200}$/;

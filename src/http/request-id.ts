import { randomUUID } from 'node:crypto';

/** Caller's `X-Request-ID` if it is printable ASCII of max 200 characters, else a new one (design §6). */
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
  const time = Date.now().toString(16).padStart(12, '0');
  const random = randomUUID();
  return `${time}${random.slice(14, 18)}${random.slice(19, 23)}${random.slice(24)}`;
}

const printable = /^[\x20-\x7e]{1,200}$/;

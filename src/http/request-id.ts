import { randomUUID } from 'node:crypto';

/** The caller's `X-Request-ID` where it is printable ASCII of at most 200 characters, else a new one (design §6). */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && printable.test(header) ? header : newRequestId();
}

/**
 * `req_` and 32 hexadecimal digits: the time, then chance. Ids that follow each other lie side by side in the index of
 * the ledger; ids of chance alone have every row write a page of its own (50 µs a row in place of 31).
 */
function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const chance = randomUUID();
  return `req_${time}${chance.slice(14, 18)}${chance.slice(19, 23)}${chance.slice(24)}`;
}

const printable = /^[\x20-\x7e]{1,200}$/;

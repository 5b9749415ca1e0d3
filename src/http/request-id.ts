import { randomUUID } from 'node:crypto';

/** The caller's `X-Request-ID` where it is printable ASCII of at most 200 characters, else a new one (design §6). */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && printable.test(header) ? header : `req_${randomUUID().replaceAll('-', '')}`;
}

const printable = /^[\x20-\x7e]{1,200}$/;

import { timeOrderedId } from '../../kit/time-ordered-id.js';

/** Caller's `X-Request-ID` if it is printable ASCII of max 200 characters, else a new one. */
export function requestIdOf(header: string | undefined): string {
  return header !== undefined && printable.test(header) ? header : newRequestId();
}

function newRequestId(): string {
  return `req_${timeOrderedId()}`;
}

const printable = /^[\x20-\x7e]{1,200}$/;

import { randomBytes } from 'node:crypto';
import type { SpoolOwner } from './spool-owner.js';

/** Parts of the name of a spool file. */
export interface SpoolName {
  readonly name: string;
  /** Undefined in names of former versions. */
  readonly owner: SpoolOwner | undefined;
  /** First part of the names of all files of one spool. */
  readonly spool: string;
  /** Rows at its start that the store has accepted. */
  readonly taken: number;
}

/** First part of the names of a new spool's files: `ledger-HOST-PID-START-ID`. */
export function newSpool({ host, pid, start }: SpoolOwner): string {
  return ['ledger', host, pid, start, randomBytes(6).toString('hex')].join('-');
}

/** Name of the file that a spool appends to. */
export function appendedName(spool: string): string {
  return `${spool}.ndjson`;
}

/** Name of a file that a spool has claimed for its drain; `id` distinguishes it. */
export function claimedName(spool: string, id: string, taken: number): string {
  return `${spool}-${id}-${taken}.draining`;
}

export function newClaim(): string {
  return randomBytes(4).toString('hex');
}

/** Undefined if it is not the name of a spool file. */
export function readSpoolName(name: string): SpoolName | undefined {
  const [, spool, host, pid, start, taken] = named.exec(name) ?? [];
  if (spool !== undefined && host !== undefined)
    return {
      name,
      spool,
      owner: { host, pid: Number(pid), start: Number(start) },
      taken: Number(taken ?? 0),
    };
  return former.test(name) ? { name, spool: '', owner: undefined, taken: 0 } : undefined;
}

const named =
  /^(ledger-(\w{1,60})-(\d{1,15})-(\d{1,15})-[0-9a-f]{12})(?:-[0-9a-f]{8}-(\d{1,15}))?\.(?:ndjson|draining)$/;
const former = /^ledger-[\w-]+\.(?:ndjson|draining)$/;

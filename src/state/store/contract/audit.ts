import type { Json } from '../../../plugin/index.js';
import { type StepResult } from '../../step-result.js';

/** Result of an audited action: refused by a check (4xx), or failed (5xx). */
export type AuditOutcome = 'done' | 'refused' | 'failed';

/** Actor on the gateway: `system` and `cli` are its own process and its command line. */
export interface AuditActor {
  readonly kind: 'master' | 'password' | 'oidc' | 'token' | 'system' | 'cli' | 'anonymous';
  readonly name: string;
}

/** One action on the gateway by an operator, with secrets masked. */
export interface AuditEntry {
  /** Orders the entries of a millisecond. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly actor: AuditActor;
  /** Subject and verb: `key.create`. */
  readonly action: string;
  /** Id of the key, slot or token acted on. */
  readonly target?: string;
  readonly outcome: AuditOutcome;
  /** Error code of an action that was refused or failed. */
  readonly code?: string;
  readonly before?: Json;
  readonly after?: Json;
  readonly address?: string;
  readonly requestId?: string;
}

export interface AuditFilter {
  /** Name of the actor. */
  readonly actor?: string;
  /** An action, or those of a subject: `key.create`, `key.*`. */
  readonly action?: string;
  readonly target?: string;
  readonly outcome?: AuditOutcome;
  /** Unix milliseconds: from `fromMs` on, and before `toMs`. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** Entries, newest first; `cursor` continues after the last one, absent at the end. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly cursor?: string;
}

/** Append-only log of actions: an entry is never changed, and only age removes it. */
export interface AuditLog {
  /** Appends entries; existing ones stay unchanged. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** At most 1000 entries. Throws a TypeError on a foreign cursor. */
  page(filter: AuditFilter, page: { readonly cursor?: string; readonly limit: number }): Promise<AuditPage>;
  /** Deletes at most `limit` of the oldest entries from before `beforeMs`. */
  prune(beforeMs: number, limit: number): Promise<StepResult>;
}

import { randomBytes } from 'node:crypto';
import { isGatewayError, type Clock, type Logger } from '../../plugin/index.js';
import type { Caches } from '../../plugin/core.js';
import { isRecord } from '../../kit/schema/record.js';
import type { AuditActor, AuditEntry, AuditLog, AuditOutcome } from '../store/contract/audit.js';
import { EntryQuota } from './entry-quota.js';
import { AuditWriter } from './audit-writer.js';
import { AuditedAction } from './audited-action.js';
import { boundedJson, shortText } from './bounded.js';

interface AuditOptions {
  readonly store: Pick<AuditLog, 'append'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** An action to record. */
export interface AuditTerms {
  /** Subject and verb: `key.create`. */
  readonly action: string;
  /** Undefined until the action itself sets it. */
  readonly actor?: AuditActor | undefined;
  readonly target?: string | undefined;
  readonly address?: string;
  readonly requestId?: string;
  /** Logger of the request; default: the gateway's. */
  readonly log?: Logger;
  /** Log line of a completed action; default: that the gateway was changed. */
  readonly noted?: string | undefined;
}

/** The audit log of a gateway: every action of an operator is an entry and a log line. */
export class Audit {
  readonly #options: AuditOptions;
  readonly #writer: AuditWriter;
  readonly #quota: EntryQuota;
  #count = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#writer = new AuditWriter(options);
    this.#quota = new EntryQuota(options.clock.now);
  }

  get caches(): Caches {
    return { unwritten_audit_entries: () => this.#writer.fill };
  }

  /**
   * Runs an action, and records it with its outcome unless its actor is unknown. Rejects as `work` does; an unavailable
   * log stops nothing.
   */
  async run<Result>(
    terms: AuditTerms,
    work: (action: AuditedAction) => Result | Promise<Result>,
  ): Promise<Result> {
    const action = new AuditedAction();
    action.actor = terms.actor;
    action.target = terms.target;
    let result: Result;
    try {
      result = await work(action);
    } catch (error) {
      await this.#record(terms, action, failureOf(error));
      throw error;
    }
    const { refusal } = action;
    await this.#record(
      terms,
      action,
      refusal === undefined ? { outcome: 'done' } : { outcome: 'refused', code: refusal },
    );
    return result;
  }

  /** Writes the entries that wait for the store. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async #record(terms: AuditTerms, action: AuditedAction, result: ActionResult): Promise<void> {
    const { actor, target, before, after, noted } = action;
    if (!actor) return;
    const acted = { actor, target, before, after, noted };
    if (actor.kind === 'anonymous' || result.outcome === 'refused') {
      const unrecorded = this.#quota.take(`${actor.kind} ${actor.name}`);
      if (unrecorded === undefined) return;
      if (unrecorded > 0) acted.noted = { ...noted, unrecorded };
    }
    if (actor.kind !== 'anonymous') this.#log(terms, acted, result);
    await this.#writer.write(this.#entryOf(terms, acted, result));
  }

  #entryOf(terms: AuditTerms, action: Acted, { outcome, code }: ActionResult): AuditEntry {
    const { actor, target } = action;
    const [before, after] = changedFields(action.before, afterOf(action)).map((side) => boundedJson(side));
    return {
      id: this.#newId(),
      atMs: this.#options.clock.now(),
      actor: { kind: actor.kind, name: lineOf(actor.name) },
      action: terms.action,
      ...(target !== undefined && target !== '' && { target: lineOf(target) }),
      outcome,
      ...(code !== undefined && { code }),
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      ...(terms.address !== undefined && { address: lineOf(terms.address) }),
      ...(terms.requestId !== undefined && { requestId: lineOf(terms.requestId) }),
    };
  }

  #log(
    { action: what, noted, log = this.#options.log }: AuditTerms,
    action: Acted,
    result: ActionResult,
  ): void {
    const { actor, target } = action;
    const { outcome, code } = result;
    const fields = { by: actor.kind, name: actor.name, what, ...(target && { target }), ...action.noted };
    if (outcome === 'done') log.info(fields, noted ?? 'An operator changed the gateway.');
    else log.info({ ...fields, code }, messages[outcome]);
  }

  /** Ids of a process rise, so that its entries of a millisecond stay in order. */
  #newId(): string {
    this.#count += 1;
    return `aud_${this.#count.toString(16).padStart(8, '0')}${randomBytes(8).toString('hex')}`;
  }
}

interface ActionResult {
  readonly outcome: AuditOutcome;
  readonly code?: string;
}

type Acted = Pick<AuditedAction, 'target' | 'before' | 'after' | 'noted'> & { readonly actor: AuditActor };

const messages = {
  refused: 'An action of an operator was refused.',
  failed: 'An action of an operator failed.',
} as const;

function failureOf(error: unknown): ActionResult {
  if (!isGatewayError(error)) return { outcome: 'failed', code: 'internal' };
  return { outcome: error.status < 500 ? 'refused' : 'failed', code: error.code };
}

/** Both sides of a change without unchanged fields, except for the name, by which people recognise the target. */
function changedFields(before: unknown, after: unknown): readonly [unknown, unknown] {
  if (!isRecord(before) || !isRecord(after)) return [before, after];
  const isChanged = (key: string): boolean =>
    key === 'name' || JSON.stringify(before[key]) !== JSON.stringify(after[key]);
  const changed = (side: object) =>
    Object.fromEntries(Object.entries(side).filter(([key]) => isChanged(key)));
  return [changed(before), changed(after)];
}

function afterOf({ after, noted }: Acted): unknown {
  if (Object.keys(noted).length === 0) return after;
  return { ...noted, ...Object(after) };
}

/** A text without control characters, some of which PostgreSQL refuses. */
function lineOf(text: string): string {
  return shortText(text, maxLine).replaceAll(/\p{Cc}/gu, '?');
}

const maxLine = 300;

import type { AuditActor } from '../store/contract/audit.js';

/** A running action, whose handler sets its target and its changes. */
export class AuditedAction {
  /** Undefined while the actor is unknown, when nothing is recorded. */
  actor: AuditActor | undefined;
  target: string | undefined;
  before: unknown;
  after: unknown;
  /** Fields that the log line has, too. */
  noted: Readonly<Record<string, unknown>> = {};

  /** The state of the target before and after, without secrets. */
  change(before: unknown, after: unknown): void {
    this.before = before;
    this.after = after;
  }

  /** Error code of an action that was refused without an error being thrown. */
  refusal: string | undefined;

  /** Records the action as refused, if its handler answers itself. */
  refuse(code: string): void {
    this.refusal = code;
  }

  /** Adds facts to the entry and to its log line. */
  note(fields: Readonly<Record<string, unknown>>): void {
    this.noted = { ...this.noted, ...fields };
  }
}

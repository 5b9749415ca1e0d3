import type { AuditActor } from '../store/contract/audit.js';

/** An action under way: its handler says what it acts on, and what it changes. */
export class AuditedAction {
  /** Undefined: nobody is known yet, and nothing is recorded. */
  actor: AuditActor | undefined;
  target: string | undefined;
  before: unknown;
  after: unknown;
  /** Fields that the log line has too. */
  noted: Readonly<Record<string, unknown>> = {};

  /** The state of the target before and after, without secrets. */
  change(before: unknown, after: unknown): void {
    this.before = before;
    this.after = after;
  }

  /** Error code of an action that was refused without an error being thrown. */
  refusal: string | undefined;

  /** Records the action as refused, where its handler answers itself. */
  refuse(code: string): void {
    this.refusal = code;
  }

  /** Adds facts to the entry and to its log line. */
  note(fields: Readonly<Record<string, unknown>>): void {
    this.noted = { ...this.noted, ...fields };
  }
}

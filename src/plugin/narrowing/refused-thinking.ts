import type { MessagesRequest } from '../contract/messages.js';
import type { SlotCall } from '../contract/slot/slot.js';
import { narrowedForMessages } from './narrowed-call.js';

/** Thinking or effort of a call that its upstream has refused. */
export interface RefusedThinking {
  /** Entry of `SlotCall.without` that `narrowedForMessages` understands: `thinking=budget`, `efforts=low,medium`. */
  readonly without: string;
  /** True if the refusal concerns the model, rather than other fields of this request. */
  readonly isOfModel: boolean;
}

/**
 * Thinking that a refusal is about, of a translated request; undefined for other refusals. `said`: the upstream's
 * words in lower case.
 */
export function refusedThinking(said: string, call: SlotCall): RefusedThinking | undefined {
  if (call.isTranslated !== true || !/support|expected tags|not permitted/.test(said)) return undefined;
  const sent = sentThinking(call);
  if (!sent) return undefined;
  const { request } = call;
  const row = rows.find(({ kind, says }) => kind === sent.kind && says.test(said));
  if (!row) return undefined;
  const isOfModel = aboutModel.test(said) || said.includes(request.model.toLowerCase());
  return { without: row.without, isOfModel };
}

/** Kind of thinking in the request as sent; undefined if it has neither thinking nor effort. */
function sentThinking(call: SlotCall): { readonly kind: string | undefined } | undefined {
  const { report: _, ...silent } = call;
  const { thinking, output_config }: MessagesRequest = narrowedForMessages(silent).request;
  if (thinking === undefined && output_config?.effort === undefined) return undefined;
  return { kind: thinking?.type };
}

/**
 * Words about the model; other refusals may concern other fields of that request: a forced tool, the beginning of the
 * answer.
 */
const aboutModel = /\bmodel\b|expected tags|extra inputs|extraneous key/;

interface Row {
  /** Kind of thinking that was refused. */
  readonly kind: string | undefined;
  readonly says: RegExp;
  readonly without: string;
}

/** Refusals of thinking, in order of precedence; beside a forced tool choice an effort is sent without thinking. */
const rows: readonly Row[] = [
  { kind: 'enabled', says: /adaptive|type\.enabled|['"`]enabled['"`]/, without: 'thinking=adaptive' },
  { kind: 'enabled', says: /thinking/, without: 'thinking=none' },
  { kind: 'adaptive', says: /adaptive/, without: 'thinking=budget' },
  { kind: 'adaptive', says: /effort.{0,40}(?:level|max)/, without: 'efforts=low,medium,high' },
  { kind: 'adaptive', says: /effort|output_config/, without: 'thinking=budget' },
  { kind: 'adaptive', says: /thinking/, without: 'thinking=none' },
  { kind: undefined, says: /effort|output_config/, without: 'efforts=' },
  { kind: 'disabled', says: /thinking|disabled/, without: 'thinking.disabled' },
];

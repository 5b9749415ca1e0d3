import { randomUUID } from 'node:crypto';
import type { ContentBlock, MessagesResponse, Usage } from '../../contract/messages.js';
import { isRecord } from '../../../kit/schema/record.js';
import { ModelEvent } from '../events.js';

/** Estimated tokens of a text of this length. */
function estimatedTokens(length: number): number {
  return Math.max(1, Math.ceil(length / 4));
}

/** Usage with all keys that clients read, estimated from the lengths of request and answer. */
export function estimatedUsage(requestBytes: number, outputLength: number): Usage {
  return {
    input_tokens: estimatedTokens(requestBytes),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputLength === 0 ? 0 : estimatedTokens(outputLength),
  };
}

/** True for usage with any positive count: missing, empty and zero counts are unknown. */
export function isCounted(usage: Usage | null | undefined): boolean {
  return isRecord(usage) && Object.values(usage).some((value) => typeof value === 'number' && value > 0);
}

/** Usage whose counts are integers; itself if they are. */
export function wholeUsage<Counts extends Usage | undefined>(usage: Counts): Counts {
  if (!isRecord(usage) || Object.values(usage).every(isWhole)) return usage;
  const entries = Object.entries(usage).map(([name, value]) => [name, wholeValue(value)]);
  return Object.fromEntries(entries) as Counts; // the same fields
}

function isWhole(value: unknown): boolean {
  if (isRecord(value)) return Object.values(value).every(isWhole);
  return typeof value !== 'number' || Number.isInteger(value);
}

function wholeValue(value: unknown): unknown {
  if (isRecord(value)) return wholeUsage(value as Usage); // nested counts
  return typeof value === 'number' ? Math.round(value) : value;
}

/** Stop reason of an answer with tool calls, which wait for their results: some services send `end_turn`. */
export function stopReasonWith<Reason>(reason: Reason, hasToolUse: boolean): Reason | 'tool_use' {
  return hasToolUse && reason === 'end_turn' ? 'tool_use' : reason;
}

export function isToolUse({ type }: ContentBlock): boolean {
  return type === 'tool_use';
}

/**
 * Message of a service that omits fields that clients need: with an id, a list of content, and usage, which is
 * estimated and marked if the message is complete. Undefined if that does not make it valid.
 */
export function mendedMessage(given: unknown, requestBytes: number): MessagesResponse | undefined {
  if (!isRecord(given)) return undefined;
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const { id, content, usage, type = 'message', role = 'assistant', model = '' } = known;
  const required = { type, role, model };
  const list = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const isComplete = list.length > 0;
  const message = {
    stop_reason: null,
    stop_sequence: null,
    ...given,
    ...required,
    id: typeof id === 'string' && id !== '' ? id : `msg_${randomUUID().replaceAll('-', '')}`,
    content: list,
    usage: usage ?? {
      ...estimatedUsage(requestBytes, isComplete ? JSON.stringify(list).length : 0),
      ...(isComplete && { estimated: true }),
    },
  };
  return validMessage(message);
}

/** The message with whole counts and the stop reason of its calls; undefined for anything else. */
function validMessage(message: object): MessagesResponse | undefined {
  try {
    const { json } = new ModelEvent('message_start', JSON.stringify({ message }));
    if (json.type !== 'message_start') return undefined;
    const { stop_reason, content, usage } = json.message;
    return {
      ...json.message,
      usage: wholeUsage(usage),
      stop_reason: stopReasonWith(stop_reason, content.some(isToolUse)),
    };
  } catch {
    return undefined; // wrong beyond what can be mended
  }
}

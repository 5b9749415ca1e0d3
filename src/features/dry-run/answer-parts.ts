import { type Received, jsonOrText, type ReceivedEvent } from '../../engine/http/connection/inner-caller.js';
import type { DryOutcome } from './outcome.js';
import { MessageFold } from '../../plugin/upstream/index.js';
import { ModelEvent } from '../../plugin/index.js';
import { isRecord } from '../../kit/schema/record.js';

type Answer = Pick<DryOutcome, 'answer' | 'text'> & Partial<Pick<DryOutcome, 'error'>>;

/** The parts of an outcome that are read from the body of its answer. */
export function answerParts({ events, text }: Received, format: string): Answer {
  const answer = events.length > 0 ? wholeAnswer(format, events) : jsonOrText(text);
  const error = events.length > 0 ? lastError(events.map(({ data }) => data)) : errorOf(answer);
  return { answer, text: textsOf(answer).join('\n'), ...(error && { error }) };
}

function lastError(data: readonly unknown[]): DryOutcome['error'] {
  return data.map(errorOf).findLast((error) => error !== undefined);
}

/** The error object of any of the formats. */
function errorOf(value: unknown): DryOutcome['error'] {
  const { error, type, response } = Object(value) as Record<string, unknown>; // any object has properties
  const failed = type === 'response.failed' ? (Object(response) as { error?: unknown }).error : undefined;
  const found = failed ?? (type === 'error' && error === undefined ? value : error);
  if (typeof found !== 'object' || found === null) return undefined;
  const { code, type: kind, message } = found as Record<string, unknown>;
  return { code: textOf(code) || textOf(kind), message: textOf(message) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Places of the model's text in the answers of the formats. */
function textsOf(answer: unknown): readonly string[] {
  const { content, choices, output } = Object(answer) as Record<string, unknown>;
  const parts = [content, choices, output].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  return parts.flatMap((part) => {
    const { type, text, message, content: inner } = Object(part) as Record<string, unknown>;
    if (
      typeof text === 'string' &&
      (type === undefined || (typeof type === 'string' && type.endsWith('text')))
    )
      return [text];
    if (typeof message === 'object' && message !== null) {
      const said = (message as { content?: unknown }).content;
      return typeof said === 'string' ? [said] : textsOf(message);
    }
    return Array.isArray(inner) ? textsOf({ content: inner }) : [];
  });
}

type Json = Readonly<Record<string, unknown>>;

/** Answer that the events of a stream add up to, by the format of the caller; undefined for the format of a plugin. */
function wholeAnswer(format: string, events: readonly ReceivedEvent[]): unknown {
  const data = events.map(({ data }) => data).filter(isRecord);
  return Object.hasOwn(folds, format) ? folds[format]?.(data) : undefined;
}

const folds: Readonly<Record<string, (data: readonly Json[]) => unknown>> = {
  messages: foldMessages,
  chat: foldChunks,
  completions: foldChunks,
  responses: (data) => data.findLast(({ response }) => isRecord(response))?.['response'],
};

function foldMessages(data: readonly Json[]): unknown {
  const fold = new MessageFold();
  for (const event of data)
    if (event['type'] !== 'error') fold.add(ModelEvent.of(event as Parameters<typeof ModelEvent.of>[0])); // the gateway's own events
  return fold.partial();
}

/**
 * Chunks of Chat Completions and Completions as one object: texts are joined, and of other fields the last value
 * counts.
 */
function foldChunks(chunks: readonly Json[]): unknown {
  const choices: Json[] = [];
  const parts = chunks.flatMap(({ choices: some }) => (Array.isArray(some) ? some.filter(isRecord) : []));
  for (const part of parts) {
    const index = Number(part['index'] ?? 0);
    choices[index] = mergedFields(choices[index] ?? {}, part);
  }
  const whole: Record<string, unknown> = {};
  for (const chunk of chunks) Object.assign(whole, chunk);
  const { object } = whole;
  const name = typeof object === 'string' ? { object: object.replace(/\.chunk$/, '') } : {};
  return { ...whole, ...name, choices: choices.map(wholeChoice) };
}

/** A choice as an answer that is not streamed has it. */
function wholeChoice({ delta, ...choice }: Json): Json {
  return delta === undefined ? choice : { ...choice, message: delta };
}

/** Fields whose texts are complete in each chunk. */
const unjoined = new Set(['id', 'type', 'role', 'finish_reason']);

function merged(into: unknown, part: unknown, name = ''): unknown {
  if (isRecord(into) && isRecord(part)) return mergedFields(into, part);
  if (Array.isArray(into) && Array.isArray(part)) return mergedList(into, part);
  const isText = typeof into === 'string' && typeof part === 'string';
  return isText && !unjoined.has(name) ? into + part : (part ?? into);
}

function mergedFields(into: Json, part: Json): Json {
  const fields = Object.entries(part).map(([name, value]) => [
    name,
    Object.hasOwn(into, name) ? merged(into[name], value, name) : value,
  ]);
  return { ...into, ...Object.fromEntries(fields) };
}

/** Lists of chunks: parts with an `index` (tool calls) belong to the one that has it. */
function mergedList(into: readonly unknown[], part: readonly unknown[]): readonly unknown[] {
  const list = [...into];
  for (const item of part) {
    const at = isRecord(item)
      ? list.findIndex((known) => isRecord(known) && 'index' in known && known['index'] === item['index'])
      : -1;
    if (at === -1) list.push(item);
    else list[at] = merged(list[at], item);
  }
  return list;
}

import { isDeepStrictEqual } from 'node:util';
import {
  EventStream,
  formatContext,
  GatewayError,
  isGatewayError,
  ModelEvent,
  toGatewayError,
  type Format,
  type MessagesStreamEvent,
  type ReplyEncoder,
} from '../plugin/index.js';
import type { FormatContext } from '../plugin/format/index.js';
import { messageEvents, replyOf } from './events.js';
import { toFormat, type FormatLike } from './definitions.js';
import { fakeHost } from './fake-host.js';
import { filledOptions } from './filled-options.js';

export interface FormatCheck {
  /** A request body that the format accepts. */
  readonly body: unknown;
  /** Parts of the context that the format needs: parameters of its path, options, whose defaults are filled in. */
  readonly context?: Partial<FormatContext>;
  /**
   * Folds a whole stream into the whole answer. Throws if the stream breaks the format's grammar or does
   * not end with its success marker.
   */
  readonly fold: (stream: string) => unknown;
  /** The part of a whole answer that its stream has too; default all of it. */
  readonly comparable?: (whole: unknown) => unknown;
  /** Message of the error event that ends a broken stream. Throws if there is none. */
  readonly errorIn: (stream: string) => string;
}

/**
 * Conformance suite of a format: the grammar of its streams, whole = fold(stream), the same bytes for any
 * split of the events into batches, and failures in the stream. Throws an Error that names the broken rule.
 */
export async function checkFormat(given: FormatLike, check: FormatCheck): Promise<void> {
  const format = toFormat(given);
  const parts = { ...contextOf(format), ...check.context };
  const context = { ...parts, options: { ...filledOptions(format, parts.options) } };
  await checkDecoded(format, check.body, context);
  const encoder = await format.encoder(check.body, context);
  for (const [name, events] of Object.entries(answers())) {
    await checkFold(name, events, encoder, check);
    await checkSplits(name, events, encoder);
    await checkFailures(name, events, encoder, check);
  }
}

function contextOf(format: Format): FormatContext {
  const host = fakeHost({ formats: { get: () => format } });
  const caller = { kind: 'key', keyId: 'key-1', name: 'test' } as const;
  const state = { format: format.name, caller, log: host.log };
  return copyOf(formatContext(host, { state, headers: {}, path: '/', querystring: '' }));
}

/** A plain object, since the getters of a class are lost in a spread. */
function copyOf(context: FormatContext): FormatContext {
  const { options, path, params, query, headers, log, maxBodyBytes } = context;
  return { ...context, options, path, params, query, headers, log, maxBodyBytes };
}

async function checkDecoded(format: Format, body: unknown, context: FormatContext): Promise<void> {
  const before = structuredClone(body);
  const { request, stream, dropped, intercept } = await format.decode(body, context);
  const isRequest = typeof request.model === 'string' && Array.isArray(request.messages);
  rule(isRequest, 'decode gives a Messages request, with a model and messages');
  rule(typeof stream === 'boolean', 'decode says whether the caller asked for a stream');
  rule(
    Array.isArray(dropped) && ['undefined', 'function'].includes(typeof intercept),
    'decode gives a list of dropped, and a function or nothing as intercept',
  );
  rule(isDeepStrictEqual(body, before), 'decode leaves the body as it is');
}

async function checkFold(
  name: string,
  events: readonly MessagesStreamEvent[],
  encoder: ReplyEncoder,
  { fold, comparable = (whole) => whole }: FormatCheck,
): Promise<void> {
  const { text, error } = await read(encoder, [events]);
  rule(
    error === undefined,
    `${name}: a complete answer is written without an error`,
    toGatewayError(error).message,
  );
  const whole: unknown = JSON.parse(JSON.stringify(await encoder.whole(replyIn([events]))));
  const expected = JSON.stringify(comparable(whole));
  const folded = JSON.stringify(await fold(text));
  const isSame = isDeepStrictEqual(JSON.parse(folded), JSON.parse(expected));
  rule(isSame, `${name}: whole = fold(stream)`, `${expected} is not ${folded}`);
}

async function checkSplits(
  name: string,
  events: readonly MessagesStreamEvent[],
  encoder: ReplyEncoder,
): Promise<void> {
  const { text } = await read(encoder, [events]);
  for (let size = 1; size < events.length; size += 1) {
    const split = await read(encoder, inBatches(events, size));
    rule(split.text === text, `${name}: batches of ${size} events give the same bytes as one batch`);
  }
}

async function checkFailures(
  name: string,
  events: readonly MessagesStreamEvent[],
  encoder: ReplyEncoder,
  { fold, errorIn }: FormatCheck,
): Promise<void> {
  const failure = new GatewayError('upstream_error', 'The upstream failed on purpose.');
  for (let length = 1; length < events.length; length += 1) {
    const begun = inBatches(events.slice(0, length), 1);
    const { text, error } = await read(encoder, [...begun, failure]);
    rule(isGatewayError(error), `${name}: a stream that fails throws its error at the end`);
    rule(errorIn(text) === failure.message, `${name}: a stream that fails ends with its error`, text);
    rule(await refuses(() => fold(text)), `${name}: a stream that fails has no mark of success`, text);
    const cut = await read(encoder, begun);
    rule(cut.error !== undefined, `${name}: events that just end are an error`);
    rule(await refuses(() => encoder.whole(replyIn([...begun, failure]))), `${name}: whole throws too`);
  }
}

type Batches = readonly (readonly MessagesStreamEvent[] | Error)[];

interface Written {
  readonly text: string;
  readonly error: unknown;
}

async function read(encoder: ReplyEncoder, batches: Batches): Promise<Written> {
  const chunks: Uint8Array[] = [];
  const textOf = () => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  try {
    for await (const piece of encoder.stream(replyIn(batches))) chunks.push(Buffer.from(piece));
    return { text: textOf(), error: undefined };
  } catch (error) {
    return { text: textOf(), error };
  }
}

function replyIn(batches: Batches) {
  return replyOf(EventStream.from(modelEvents(batches)));
}

async function* modelEvents(batches: Batches) {
  for (const batch of batches) {
    if (batch instanceof Error) throw batch;
    yield batch.map((event) => ModelEvent.of(event));
  }
}

function inBatches(events: readonly MessagesStreamEvent[], size: number): Batches {
  const count = Math.ceil(events.length / size);
  return Array.from({ length: count }, (_, at) => events.slice(at * size, (at + 1) * size));
}

async function refuses(action: () => unknown): Promise<boolean> {
  try {
    await action();
    return false;
  } catch {
    return true; // any refusal is accepted
  }
}

/** Answers of a model by name. */
function answers(): Readonly<Record<string, readonly MessagesStreamEvent[]>> {
  const text = { type: 'text', text: 'Grüße, 😀!\n"Quoted" \\ and\ttabbed.' } as const;
  const thinking = { type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmVk' } as const;
  const tool = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Köln' } } as const;
  const calls = [text, tool, { ...tool, id: 'toolu_2' }];
  return {
    'a text': messageEvents({ content: [text] }),
    'an empty answer': messageEvents({ content: [] }),
    'thinking, then a text': messageEvents({ content: [thinking, text] }),
    'a text and two tool calls': messageEvents({ content: calls, stopReason: 'tool_use' }),
    'a text that was cut': messageEvents({ content: [text], stopReason: 'max_tokens' }),
    'a refusal': messageEvents({ content: [text], stopReason: 'refusal' }),
  };
}

function rule(holds: boolean, text: string, found?: string): void {
  if (holds) return;
  const shown = found === undefined ? '' : `: ${found.slice(0, 500)}`;
  throw new Error(`The format breaks a rule: ${text}${shown}`);
}

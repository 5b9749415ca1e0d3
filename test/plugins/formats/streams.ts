import { createParser } from 'eventsource-parser';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  EventStream,
  type Format,
  isGatewayError,
  type Logger,
  ModelEvent,
  type ModelReply,
} from '#src/plugin/index.js';
import type { FormatContext, StoredResponse } from '#src/plugin/format/index.js';
import { fakeModels, MemoryStore } from '@gw2api/gateway/testing';

/** Real recorded streams; absent where the project stands alone. */
export const folder = join(process.cwd(), '../shared/fixtures/messages-streams');

/** Recordings that lack `message_stop`. */
export const broken = ['constructed-cut-inside-tool-block', 'constructed-overloaded-mid-stream'];

export function fixtureNames(): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((file) => file.replace(/\.sse$/, ''))
    .filter((name) => !broken.includes(name));
}

export function fixture(name: string, choice = 0): readonly ModelEvent[] {
  return modelEvents(readFileSync(join(folder, `${name}.sse`), 'utf8'), choice);
}

export interface SentEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** The events of an SSE text. */
export function sentEvents(text: string): readonly SentEvent[] {
  const events: SentEvent[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ event, data }) });
  parser.feed(text);
  return events;
}

/** All but the pings before the first content, which no caller is sent. */
export function withoutEarlyPings(events: readonly SentEvent[]): readonly SentEvent[] {
  const isContent = ({ event = '', data }: SentEvent) =>
    event.endsWith('_delta') || (event === 'content_block_start' && !/"text": *""/.test(data));
  const first = events.findIndex(isContent);
  return events.filter(({ event }, at) => event !== 'ping' || at > first);
}

export function modelEvents(text: string, choice = 0): readonly ModelEvent[] {
  return sentEvents(text).map(({ event, data }) => new ModelEvent(event ?? '', data, undefined, choice));
}

/** A reply that brings its events in batches of these sizes, the rest in one, and then throws the error if any. */
export function replyOf(
  events: readonly ModelEvent[],
  sizes: readonly number[] = [],
  error?: Error,
): ModelReply {
  async function* batches(): AsyncGenerator<readonly ModelEvent[]> {
    let at = 0;
    for (const size of sizes) {
      if (at >= events.length) break;
      yield events.slice(at, at + size);
      at += size;
    }
    if (at < events.length) yield events.slice(at);
    if (error) throw error;
  }
  return {
    status: 200,
    headers: {},
    model: '',
    slot: 'a',
    attempts: 1,
    events: EventStream.from(batches()),
  };
}

export interface Streamed {
  readonly texts: readonly string[];
  readonly text: string;
  readonly error: unknown;
}

/** All that a format's stream gives, and the error that it ends with. */
export async function streamed(
  format: Format,
  body: unknown,
  reply: ModelReply,
  context: FormatContext = contextOf(),
): Promise<Streamed> {
  const texts: string[] = [];
  let error: unknown;
  try {
    const encoder = await format.encoder(body, context);
    for await (const piece of encoder.stream(reply)) texts.push(Buffer.from(piece).toString());
  } catch (caught) {
    error = caught;
  }
  return { texts, text: texts.join(''), error };
}

export async function whole(
  format: Format,
  body: unknown,
  reply: ModelReply,
  context: FormatContext = contextOf(),
): Promise<Record<string, unknown>> {
  const encoder = await format.encoder(body, context);
  return (await encoder.whole(reply)) as Record<string, unknown>; // an answer is an object in every format
}

/** The code of what a promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
  } catch (error) {
    return isGatewayError(error) ? error.code : String(error);
  }
  return undefined;
}

export const now = 1_790_000_000_000;

/** A context whose store keeps what it is given in `stored`, or refuses it; what is logged as an error goes to `logged`. */
export function contextOf(
  stored: StoredResponse[] = [],
  refusal?: Error,
  logged: string[] = [],
): FormatContext {
  const log: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (_, message) => logged.push(message),
    child: () => log,
  };
  const store = new MemoryStore();
  const put = async (response: StoredResponse) => {
    if (refusal) throw refusal;
    stored.push(response);
  };
  return {
    options: {},
    path: '/',
    params: {},
    query: new URLSearchParams(),
    headers: {},
    caller: { kind: 'key', keyId: 'key-1', name: 'one' },
    findModel: () => undefined,
    models: fakeModels(),
    store: Object.assign(store, { responses: Object.assign(store.responses, { put }) }),
    log,
    pseudonym: async () => 'pseudonym',
    now: () => now,
    maxBodyBytes: 2 ** 27,
    quota: { bytes: 2 ** 28, count: 10_000, eachBytes: 2 ** 25 },
    drop: () => undefined,
  };
}

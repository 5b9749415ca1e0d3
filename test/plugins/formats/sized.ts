import type { FormatContext } from '#src/plugin/format/index.js';
import {
  mapCacheMarkers,
  type MessagesRequest,
  type MessagesStreamEvent,
  ModelEvent,
} from '#src/plugin/index.js';
import { formats, type FormatName } from '../../support/formats.js';
import { contextWith } from './contexts.js';
import { end, made, messageStart } from './events.js';
import { replyOf } from './streams.js';

/** One way through a translator, with an input of any size. */
export interface Translation {
  readonly name: string;
  /** Makes an input of about so many bytes of JSON; what comes back translates it, and tells how many parts came out. */
  prepare(bytes: number): () => Promise<number>;
}

const user = { role: 'user', content: 'a' };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const functionCall = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const callOutput = { type: 'function_call_output', call_id: 'c', output: 'R' };
const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } };

/** Requests whose parts are as small as can be: what walks over all of them for each of them never ends. */
export const requests: readonly Translation[] = [
  request('chat: user messages in a row', 'chat', (bytes) => ({ messages: many(user, bytes) })),
  request('chat: tool results in a row', 'chat', (bytes) => {
    const results = many({ role: 'tool', tool_call_id: 'c123456', content: 'R' }, bytes / 2);
    const ids = results.map((_, at) => `c${at}`);
    const tool_calls = ids.map((id) => ({ ...call, id }));
    return {
      messages: [
        user,
        { role: 'assistant', tool_calls },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'R' })),
      ],
    };
  }),
  request('chat: calls and results of one id', 'chat', (bytes) => {
    const turn = [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'R' },
    ];
    const results = many({ role: 'tool', tool_call_id: 'c', content: 'R' }, bytes / 2);
    return {
      messages: [user, { role: 'assistant', tool_calls: [call] }, ...results, ...flat(turn, bytes / 2)],
    };
  }),
  request('chat: parts of a system message', 'chat', (bytes) => ({
    messages: [{ role: 'system', content: many({ type: 'text', text: 'a' }, bytes) }, user],
  })),
  request('chat: allowed tools', 'chat', (bytes) => {
    const tools = numbered(bytes / 2, (name) => ({ type: 'function', function: { name } }));
    const allowed_tools = { mode: 'auto', tools: tools.toReversed() };
    return { messages: [user], tools, tool_choice: { type: 'allowed_tools', allowed_tools } };
  }),
  request('chat: a strict schema, a quarter of it', 'chat', (bytes) => {
    const named = numbered(bytes / 4, (name) => [name, { type: 'string', minLength: 1 }] as const);
    const parameters = { type: 'object', properties: Object.fromEntries(named), required: ['f0'] };
    const tools = [{ type: 'function', function: { name: 'f', strict: true, parameters } }];
    return { messages: [user], tools };
  }),
  request('chat: cache markers', 'chat', (bytes) => ({
    messages: [{ role: 'user', content: many(marked, bytes) }],
  })),
  request('responses: user messages in a row', 'responses', (bytes) => ({ input: many(user, bytes) })),
  request('responses: calls and outputs of one id', 'responses', (bytes) => ({
    input: [functionCall, ...many(callOutput, bytes / 2), ...flat([functionCall, callOutput], bytes / 2)],
  })),
  request('responses: allowed tools', 'responses', (bytes) => {
    const tools = numbered(bytes / 2, (name) => ({ type: 'function', name }));
    return { input: 'Hi', tools, tool_choice: { type: 'allowed_tools', tools: tools.toReversed() } };
  }),
  references(),
  request('completions: stop sequences', 'completions', (bytes) => ({
    prompt: 'Hi',
    stop: many('a', bytes),
  })),
  request('messages: cache markers', 'messages', (bytes) => ({
    messages: [{ role: 'user', content: many(marked, bytes) }],
  })),
];

type Blocks = (bytes: number) => readonly ModelEvent[];

const texts: Readonly<Record<string, Blocks>> = {
  text: (bytes) => blocks(1, bytes, { type: 'text', text: '' }, { type: 'text_delta', text: 'a' }),
  'cited texts': (bytes) => blocks(bytes / 300, 300, { type: 'text', text: 'a' }, cited()),
};

const others: Readonly<Record<string, Blocks>> = {
  'citations of one text': (bytes) => blocks(1, bytes, { type: 'text', text: 'a' }, cited()),
  thinking: (bytes) =>
    blocks(
      1,
      bytes,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'a' },
    ),
  'tool input': (bytes) => blocks(1, bytes, toolUse, { type: 'input_json_delta', partial_json: '' }),
  'tool calls': (bytes) =>
    blocks(bytes / 300, 300, toolUse, { type: 'input_json_delta', partial_json: '{}' }),
};

/** Answers whose parts are as small as can be. */
export const replies: readonly Translation[] = [
  ...allOf('messages', { ...texts, ...others, 'usage reports': usageReports }),
  ...allOf('chat', { ...texts, ...others }),
  ...allOf('responses', { ...texts, ...others, 'usage reports': usageReports }),
  ...allOf('completions', texts),
];

function allOf(format: FormatName, shapes: Readonly<Record<string, Blocks>>): readonly Translation[] {
  return Object.entries(shapes).map(([name, events]) => reply(format, name, events));
}

const toolUse = { type: 'tool_use', id: 'c', name: 'f', input: {} };

function cited(): object {
  return { type: 'citations_delta', citation };
}

const citation = { type: 'web_search_result_location', url: 'https://x.example/', title: 't' };

function many<Part>(part: Part, bytes: number): Part[] {
  return Array.from({ length: Math.ceil(bytes / (JSON.stringify(part).length + 1)) }, () => part);
}

function flat<Part>(parts: readonly Part[], bytes: number): Part[] {
  return many(parts, bytes).flat();
}

function numbered<Part>(bytes: number, make: (name: string) => Part): Part[] {
  return many(make('f123456'), bytes).map((_, at) => make(`f${at}`));
}

function request(name: string, format: FormatName, fields: (bytes: number) => object): Translation {
  return {
    name,
    prepare(bytes) {
      const body = { model: 'm', ...fields(bytes) };
      return () => translate(format, body, contextWith());
    },
  };
}

/** Gives how many blocks and tools the request has that comes out. */
async function translate(format: FormatName, body: object, context: FormatContext): Promise<number> {
  const { request: made } = await formats[format].decode(body, context);
  await formats[format].encoder(body, context);
  return partsOf(mapCacheMarkers(made, (marker) => ({ ...marker, ttl: '5m' })));
}

function partsOf({ messages, tools = [], system = [], stop_sequences = [] }: MessagesRequest): number {
  const blocks = messages.reduce((sum, { content }) => sum + content.length, 0);
  return blocks + tools.length + system.length + stop_sequences.length;
}

/** References to the items of one stored response, each of them named often. */
function references(): Translation {
  return {
    name: 'responses: references to stored items',
    prepare(bytes) {
      const context = contextWith();
      const named = Array.from({ length: 1000 }, (_, at) => `msg_r_${at}`);
      const output = named.map((id) => ({ id, type: 'message', role: 'assistant', content: 'a' }));
      const stored = { id: 'resp_r', owner: 'k1', input: [], response: { output }, expiresAtMs: 2 ** 45 };
      const items = many({ type: 'item_reference', id: 'msg_r_000' }, bytes);
      const input = [user, ...items.map((item, at) => ({ ...item, id: named[at % named.length] }))];
      return async () => {
        await context.store.responses.put(stored);
        return translate('responses', { model: 'm', input }, context);
      };
    },
  };
}

function reply(
  format: FormatName,
  name: string,
  events: (bytes: number) => readonly ModelEvent[],
): Translation {
  return {
    name: `${format}: ${name}`,
    prepare(bytes) {
      const sent = [...made(messageStart()), ...events(bytes), ...end('end_turn')];
      const batches = Array.from({ length: Math.ceil(sent.length / 500) }, () => 500);
      return async () => {
        const context = contextWith();
        const body = { model: 'm', messages: [], prompt: 'Hi', input: 'Hi', include: ['a', 'b'] };
        await (await formats[format].encoder(body, context)).whole(replyOf(sent, batches));
        const encoder = await formats[format].encoder(body, context);
        for await (const _ of encoder.stream(replyOf(sent, batches)));
        return sent.length;
      };
    },
  };
}

/** So many blocks, each with deltas of so many bytes. */
function blocks(count: number, bytes: number, start: object, delta: object): readonly ModelEvent[] {
  const deltas = many({ type: 'content_block_delta', index: 0, delta }, bytes);
  return Array.from({ length: Math.ceil(count) }, (_, index) =>
    eventsOf([
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((event) => ({ ...event, index })),
      { type: 'content_block_stop', index },
    ]),
  ).flat();
}

function eventsOf(events: readonly object[]): readonly ModelEvent[] {
  return events.map((event) => ModelEvent.of(event as MessagesStreamEvent)); // made of such parts
}

/** Each with a field that nobody has seen before. */
function usageReports(bytes: number): readonly ModelEvent[] {
  const report = (at: number) => ({ type: 'message_delta', delta: {}, usage: { [`f${at}`]: 1 } });
  return eventsOf(many(report(123_456), bytes).map((_, at) => report(at)));
}

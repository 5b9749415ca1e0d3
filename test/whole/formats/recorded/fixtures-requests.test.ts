import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { narrowedForMessages } from '#src/plugin/upstream/index.js';
import type { CacheControl } from '#src/plugin/format/index.js';
import type { ContentBlock, MessagesRequest, TextBlock } from '#src/plugin/index.js';
import { formats, type FormatName } from '../../../support/formats.js';
import { contextWith, recordedRequests } from '../../../plugins/formats/contexts.js';
import { folder as streams } from '../../../plugins/formats/streams.js';
import { dialects, formatNames } from '../dialects.js';
import { slotAt, stages, startGateway, startPair, type GatewayUnderTest } from '../../harness.js';
import { json, startReplay, type Replay } from './replay.js';
import { withFittedSchemas } from '#plugins/upstreams/shared/messages/anthropic-schemas.js';

type Fields = Readonly<Record<string, unknown>>;

const translated = ['chat', 'responses', 'completions'] as const;

function recordings(format: FormatName): readonly (readonly [name: string, body: Fields])[] {
  const all = [...(recordedRequests(`${format}-requests`) ?? [])];
  return all.filter(([name]) => name !== 'count-tokens.json').map(([name, body]) => [name, body as Fields]);
}

/** Stages that change what the upstream is asked. */
const editors = ['persona-inject', 'web-search-tool', 'tool-choice', 'max-tokens', 'cache-ttl'];

const noLimit = (limit: number) => `max_tokens: ${limit} -> nothing`;

const sameImageByUrl = [
  'messages.0.content.1.source.type: "base64" -> "url"',
  'messages.0.content.1.source.media_type: "image/jpeg" -> nothing',
  'messages.0.content.1.source.data: "/9j/4AAQSkZJRgABAQAAAQABAAD/2wCEAAkGBxM… -> nothing',
  'messages.0.content.1.source.url: nothing -> "https://t3.ftcdn.net/jpg/02/36/99/22/36…',
];

/** The two calls under ids of their own, and a choice that says what holds anyway. */
const otherCalls = [
  noLimit(1024),
  'messages.1.content.0.id: "toolu_sf" -> "call_sf"',
  'messages.1.content.1.id: "toolu_nyc" -> "call_nyc"',
  'messages.2.content.0.tool_use_id: "toolu_sf" -> "call_sf"',
  'messages.2.content.1.tool_use_id: "toolu_nyc" -> "call_nyc"',
  'tool_choice: {"type":"auto"} -> nothing',
];

/** One call under another id, and not by whom it was made, which only Messages says. */
function otherCall(id: string): readonly string[] {
  return [
    noLimit(20_000),
    `messages.1.content.0.id: "toolu_01SaghKCygHLX1a2xXxPjxfv" -> "${id}"`,
    'messages.1.content.0.caller: {"type":"direct"} -> nothing',
    `messages.2.content.0.tool_use_id: "toolu_01SaghKCygHLX1a2xXxPjxfv" -> "${id}"`,
  ];
}

/**
 * What the upstream is asked otherwise for a case's Chat and Responses recordings than for its Messages one, the model aside. All
 * of it lies in what was recorded: only Messages needs `max_tokens`, ids and answers differ, one has an effort.
 */
const differences = {
  'x-json-schema-format': { chat: [noLimit(1024)], responses: [noLimit(1024)] },
  'x-multimodal': { chat: sameImageByUrl, responses: sameImageByUrl },
  'x-parallel-tool-calls-followup': {
    chat: [
      ...otherCalls,
      'messages.3.content.0.text: "The current weather is:\\n\\n- **San Fran… -> "- San Francisco, CA: 65°F and sunny.\\n-…',
    ],
    responses: [
      ...otherCalls,
      'messages.3.content.0.text: "The current weather is:\\n\\n- **San Fran… -> "- San Francisco, CA: 65°F and sunny\\n- …',
    ],
  },
  'x-reasoning': {
    chat: [noLimit(20_000)],
    responses: [
      noLimit(20_000),
      'thinking: nothing -> {"type":"adaptive"}',
      'output_config: nothing -> {"effort":"high"}',
    ],
  },
  'x-tool-call': { chat: [noLimit(20_000)], responses: [noLimit(20_000)] },
  'x-tool-call-followup': {
    chat: otherCall('call_iDTFncP9z38bOAPfUp5zh9HU'),
    responses: otherCall('call_SWggd1924ehG8L7RNTBvNAXr'),
  },
};

const persona: TextBlock = { type: 'text', text: 'You are a tester.' };

describe('a recorded request', () => {
  let replay: Replay;
  /** Without the editors, and with them. */
  let bare: GatewayUnderTest;
  let full: GatewayUnderTest;

  before(async function () {
    if (recordings('messages').length === 0) this.skip();
    const stream = readFileSync(join(streams, 'text-short-full-headers.sse'));
    const count = json({ input_tokens: 7 });
    replay = await startReplay(({ path }) => (path === '/v1/messages' ? { pieces: [stream] } : count));
    const slots = [slotAt(replay.url)];
    bare = await startGateway({ slots, pipeline: stages({ without: editors }) });
    full = await startGateway({
      slots,
      pipeline: stages({ with: { 'persona-inject': { text: persona.text } } }),
    });
  });
  after(() => Promise.all([bare?.close(), full?.close()]));
  after(() => replay?.close());

  /** What the upstream is asked for a request. */
  async function calls(gateway: GatewayUnderTest, path: string, body: Fields): Promise<readonly Fields[]> {
    const before = replay.received.length;
    const response = await gateway.post(path, body);
    await response.text();
    expect(response.status).to.equal(200);
    return replay.received
      .slice(before)
      .filter((received) => received.path === path || received.path === '/v1/messages')
      .map(({ body }) => body);
  }

  it('of Messages goes upstream as it came, but for asking for a stream', async () => {
    for (const [name, body] of recordings('messages')) {
      const [call] = await calls(bare, '/v1/messages', body);
      expect(JSON.stringify(call), name).to.equal(JSON.stringify({ ...body, stream: true }));
    }
  });

  it('of count_tokens goes upstream as it came', async () => {
    const body = recordedRequests('messages-requests')!.get('count-tokens.json') as Fields;
    for (const gateway of [bare, full]) {
      const [call] = await calls(gateway, '/v1/messages/count_tokens', body);
      expect(call).to.deep.equal(body);
    }
  });

  it('of Messages is changed by the default stages in what they are there for', async () => {
    for (const [name, body] of recordings('messages')) {
      const [call] = await calls(full, '/v1/messages', body);
      expect(call, name).to.deep.equal(edited(body as unknown as MessagesRequest));
    }
  });

  for (const format of translated) {
    const { path } = dialects[format];

    it(`of ${format} is asked upstream as it was decoded and narrowed`, async () => {
      for (const [name, body] of recordings(format)) {
        const { request } = await formats[format].decode(body, contextWith());
        const asked = await calls(bare, path, body);
        expect(asked, name).to.have.length(Number(body['n'] ?? 1));
        for (const call of asked) expect(call, name).to.deep.equal({ ...fitted(request), stream: true });
      }
    });

    it(`of ${format} is changed by the default stages in what they are there for`, async () => {
      for (const [name, body] of recordings(format)) {
        const { request } = await formats[format].decode(body, contextWith());
        const [call] = await calls(full, path, body);
        const expected = fitted(
          edited({ ...request, max_tokens: request.max_tokens ?? 128_000 }) as unknown as MessagesRequest,
        );
        const hasMarker = JSON.stringify(request).includes('"cache_control"');
        if (!hasMarker) expect(lastBlock(call!)['cache_control']).to.deep.equal(hour);
        expect(hasMarker ? call : unmarked(call!), name).to.deep.equal(
          hasMarker ? expected : asBlocks(expected),
        );
      }
    });
  }

  for (const [name, expected] of Object.entries(differences))
    it(`means the same in every format, but for what the recordings differ in: ${name}`, async () => {
      const asked = async (format: FormatName) => {
        const body = recordings(format).find(([file]) => file === `${name}.json`)![1];
        const [call] = await calls(bare, dialects[format].path, body);
        return { ...asBlocks(call!), model: '' }; // each vendor has its own
      };
      const messages = await asked('messages');
      const found = {
        chat: compare(messages, await asked('chat')),
        responses: compare(messages, await asked('responses')),
      };
      expect(found.chat).to.have.members(expected.chat);
      expect(found.responses).to.have.members(expected.responses);
    });
});

/** Translated request as the Messages API takes it: sampling, thinking, and the schemas of tools and answer. */
function fitted(request: MessagesRequest): MessagesRequest {
  const { signal } = new AbortController();
  const terms = {
    headers: {},
    search: '',
    signal,
    headersTimeoutMs: 1,
    idleTimeoutMs: 1,
    isTranslated: true,
  };
  const options = { strictTools: true, structuredOutput: true };
  const sent = withFittedSchemas(narrowedForMessages({ request, ...terms }), options).call.request;
  return JSON.parse(JSON.stringify(sent)) as MessagesRequest; // without the extras, which no JSON shows
}

describe('a recorded request at a strict upstream', () => {
  for (const format of formatNames)
    it(`of ${format} is taken, and answered in a valid stream`, async function () {
      if (recordings(format).length === 0) return this.skip();
      const pair = await startPair();
      try {
        for (const [name, body] of recordings(format)) {
          const { path, fold } = dialects[format];
          const usage = format === 'chat' || format === 'completions';
          const options = usage ? { stream_options: { include_usage: true } } : {};
          const response = await pair.post(path, { ...body, ...options, stream: true });
          const text = await response.text();
          expect(response.status, `${name}: ${text}`).to.equal(200);
          await fold(text);
          const whole = await pair.post(path, { ...body, stream: false, stream_options: undefined });
          expect(whole.status, name).to.equal(200);
        }
      } finally {
        await pair.close();
      }
    });
});

const hour: CacheControl = { type: 'ephemeral', ttl: '1h' };

/** What the default stages make of a request. */
function edited(request: MessagesRequest): Fields {
  const { system, tools, tool_choice: choice } = request;
  const own: readonly object[] =
    typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? []);
  const mayBeSearched = choice?.type !== 'any';
  const canSearch = mayBeSearched && !tools?.some(({ name }) => name === 'web_search');
  const search = { type: 'web_search_20250305', name: 'web_search' };
  return withTtl({
    ...request,
    system: [persona, ...own],
    ...(canSearch && { tools: [...(tools ?? []), search] }),
    stream: true,
  }) as Fields; // an object as before
}

/** With an hour in every cache marker that says nothing. */
function withTtl(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTtl);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [
    name,
    name === 'cache_control' && part ? { ...hour, ...part } : withTtl(part),
  ]);
  return { ...value, ...Object.fromEntries(entries) } as unknown; // with the extras
}

/** A request whose contents are all blocks. */
function asBlocks(request: MessagesRequest | Fields): Fields {
  const { messages } = request as MessagesRequest;
  const blocks = messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  }));
  return { ...request, messages: blocks };
}

function lastBlock(request: Fields): Fields {
  const { messages } = asBlocks(request) as unknown as MessagesRequest;
  return (messages.at(-1)!.content as readonly ContentBlock[]).at(-1)!;
}

/** Without the marker of the last block. */
function unmarked(request: Fields): Fields {
  const { messages } = asBlocks(request) as unknown as MessagesRequest;
  const last = messages.at(-1)!;
  const { cache_control: _, ...block } = lastBlock(request);
  const content = [...(last.content as readonly object[]).slice(0, -1), block];
  return { ...request, messages: [...messages.slice(0, -1), { ...last, content }] };
}

/** Where two values differ, as `path: the one -> the other`; long texts are cut. */
function compare(one: unknown, other: unknown, path = ''): readonly string[] {
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => compare(one[name], other[name], path ? `${path}.${name}` : name));
  }
  return JSON.stringify(one) === JSON.stringify(other)
    ? []
    : [`${path}: ${inShort(one)} -> ${inShort(other)}`];
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function inShort(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

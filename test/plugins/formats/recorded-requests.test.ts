import { expect } from 'chai';
import { extraLosses } from '@gw2api/gateway/plugin/upstream';
import type { Decoded, FormatContext } from '#src/plugin/format/index.js';
import type { MessagesRequest } from '#src/plugin/index.js';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { decodeCompletions } from '#plugins/formats/completions/request.js';
import { decodeMessages } from '#plugins/formats/messages/index.js';
import { decodeResponses } from '#plugins/formats/responses/request.js';
import { contextWith, recordedRequests } from './contexts.js';

type Decode = (body: unknown, context: FormatContext) => Decoded | Promise<Decoded>;
type Fields = Readonly<Record<string, unknown>>;

const translated: Readonly<Record<string, Decode>> = {
  chat: decodeChat,
  responses: decodeResponses,
  completions: decodeCompletions,
};

/** What Messages cannot carry of the recordings: built-in tools of the other vendor and their calls, and the like. */
const lost: Readonly<Record<string, readonly string[]>> = {
  'chat/prompt-cache-key-and-options.json': ['prompt_cache_options'],
  'chat/x-logprobs.json': ['logprobs', 'top_logprobs'],
  'chat/x-prediction.json': ['prediction'],
  'responses/client-tool-search-followup.json': [
    'tools[0]',
    'tools[2].defer_loading',
    'tools[3].defer_loading',
    'input[2].tools[0].defer_loading',
    'input[1]',
  ],
  'responses/code-interpreter-history.json': ['tools[0]', 'input[2]', 'include[1]', 'reasoning.summary'],
  'responses/string-input-service-tier.json': ['service_tier'],
};

/** Keys whose value, or everything below, is no part of what is said: settings that are compared elsewhere, ids, other vendors' data. */
const unsaid = new Set(
  (
    'model id type role status detail phase format mode' +
    ' namespace execution include reasoning encrypted_content summary service_tier' +
    ' prediction tool_choice prompt_cache_key prompt_cache_options prompt_cache_breakpoint container container_id code'
  ).split(' '),
);

/** Every text of a body that says something: prompts, names, descriptions, arguments, results, data of images. */
function sayings(value: unknown, key = ''): readonly string[] {
  if (unsaid.has(key)) return [];
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((item) => (isLost(item) ? [] : sayings(item, '')));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => (isIdle(name, value) ? [] : sayings(part, name)));
}

function isLost(item: unknown): boolean {
  const { type } = Object(item) as Fields; // an object, whatever it was
  return ['tool_search', 'tool_search_call', 'code_interpreter', 'code_interpreter_call'].includes(
    String(type),
  );
}

/** A schema's name is for the other vendor's logs; the id of a call that is lost answers nothing. */
function isIdle(name: string, holder: object): boolean {
  const { type } = holder as Fields; // looked up by name only
  return (name === 'name' && 'schema' in holder) || (name === 'call_id' && type === 'tool_search_output');
}

/** All texts of a request, call inputs also as the JSON that they are. */
function texts(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part === 'string') found.add(part);
    if (typeof part !== 'object' || part === null) return;
    found.add(JSON.stringify(part));
    Object.values(part).forEach(visit);
  };
  visit(value);
  return found;
}

function isThere(saying: string, said: ReadonlySet<string>): boolean {
  const data = saying.startsWith('data:') ? saying.slice(saying.indexOf(',') + 1) : saying;
  return said.has(data) || (data.startsWith('{') && said.has(JSON.stringify(JSON.parse(data))));
}

/** Extra that every kind of upstream heeds. */
const heeded = 'tool_choice.allowed_tools';

describe('recorded requests', () => {
  for (const [format, decode] of Object.entries(translated)) {
    it(`of ${format} lose nothing that Messages can say, and report the rest`, async function () {
      const bodies = recordedRequests(`${format}-requests`);
      if (!bodies) return this.skip();
      for (const [name, body] of bodies) {
        const { request, dropped } = await decode(body, contextWith());
        const said = texts(request);
        const missing = sayings(allowedOnly(body)).filter((saying) => !isThere(saying, said));
        expect(missing, name).to.deep.equal([]);
        const extras = extraLosses({ request }).filter(({ kind }) => kind !== 'mend');
        const lines = dropped.filter((loss) => typeof loss === 'string' || loss.kind !== 'mend');
        const names = extras.map(({ path }) => path.replace('extras.', ''));
        const left = [...lines, ...names.filter((name) => name !== heeded)];
        expect(left, name).to.have.members(lost[`${format}/${name}`] ?? []);
      }
    });
  }

  it('of one case lead to one upstream request from every format', async function () {
    const chat = recordedRequests('chat-requests');
    const responses = recordedRequests('responses-requests');
    const messages = recordedRequests('messages-requests');
    if (!chat || !responses || !messages) return this.skip();
    const cases = [...chat.keys()].filter(
      (name) => name.startsWith('x-') && responses.has(name) && messages.has(name),
    );
    expect(cases).to.have.length(6);
    for (const name of cases) {
      const fromChat = decodeChat(chat.get(name), contextWith());
      const fromResponses = await decodeResponses(responses.get(name), contextWith());
      const fromMessages = decodeMessages(messages.get(name));
      expect(normal(fromChat.request), name).to.deep.equal(normal(fromMessages.request));
      expect(normal(fromResponses.request), name).to.deep.equal(normal(fromMessages.request));
    }
  });
});

/** A body without the tools that its choice forbids. */
function allowedOnly(body: unknown): unknown {
  const { tool_choice, tools } = body as { tool_choice?: { tools?: Fields[] }; tools?: Fields[] }; // a Chat or Responses body
  const allowed = tool_choice?.tools?.map(({ name }) => name);
  return allowed ? { ...(body as object), tools: tools?.filter(({ name }) => allowed.includes(name)) } : body;
}

/**
 * A request without what the recordings of one case differ in by themselves: model, `max_tokens` (Messages needs one),
 * effort (only the Responses one has it), name and strict of a schema and `strict: false` (Messages has neither), ids of calls, the data of the image, the assistant's own words, content as text or
 * blocks, `tool_choice: auto`, and `caller` of a recorded call.
 */
function normal(whole: MessagesRequest): unknown {
  const { model: _, max_tokens: __, thinking: ___, ...request } = whole;
  const { effort: ____, format, ...output } = request.output_config ?? {};
  return {
    ...request,
    output_config: { ...output, ...(format && { format: { type: format.type, schema: format.schema } }) },
    tools: request.tools?.map(({ strict, ...tool }) => (strict ? { ...tool, strict } : tool)),
    tool_choice: request.tool_choice?.type === 'auto' ? undefined : request.tool_choice,
    messages: request.messages.map(({ role, content }) => ({
      role,
      content: (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) =>
        normalBlock(block as Fields, role),
      ),
    })),
  };
}

function normalBlock(whole: Fields, role: string): Fields {
  const { caller: _, detail: __, ...block } = whole;
  const own = role === 'assistant' && block['type'] === 'text' ? { text: '…' } : {};
  const id = 'id' in block ? { id: '…' } : {};
  const answered = 'tool_use_id' in block ? { tool_use_id: '…' } : {};
  const source = 'source' in block ? { source: '…' } : {};
  return { ...block, ...own, ...id, ...answered, ...source };
}

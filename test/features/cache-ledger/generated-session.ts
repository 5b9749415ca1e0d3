import type { CacheCause } from '#src/plugin/contract/ledger.js';

export type Random = () => number;

/** Conversation as a caller keeps it, in the form of its format. */
export interface Conversation {
  model: string;
  system: string;
  tools: string[];
  messages: { role: 'user' | 'assistant'; texts: string[] }[];
  effort?: string;
  thinking?: number;
  toolChoice?: 'auto' | 'none';
  isUnmarked?: boolean;
  headers: Record<string, string>;
}

/** What the world around a conversation does before its next turn. */
export interface World {
  passMinutes(minutes: number): void;
  /** Takes the slot of the session out of service. */
  pauseSlot(): void;
  forgetPrompts(): void;
}

/** One way to lose a cache: its cause, and what is done before a turn. */
export interface Mishap {
  readonly name: string;
  readonly cause: CacheCause | undefined;
  /** What the detail must say. */
  readonly detail?: (talk: Conversation, before: Conversation) => string | RegExp;
  /** True if the turns after it lose as it does. */
  readonly goesOn?: true;
  /** Turns that must have been made before it. */
  readonly after?: number;
  readonly formats?: readonly string[];
  readonly happen: (talk: Conversation, world: World, random: Random) => void;
}

export const mishaps: readonly Mishap[] = [
  { name: 'nothing', cause: undefined, happen: () => undefined },
  { name: 'a pause within the lifetime', cause: undefined, happen: (_, world) => world.passMinutes(50) },
  {
    name: 'the caller edits an earlier message',
    cause: 'client_changed',
    detail: () => 'message 1',
    after: 2,
    happen: ({ messages }) => edit(messages, 0),
  },
  {
    name: 'the caller edits an answer',
    cause: 'client_changed',
    detail: () => 'message 2',
    after: 2,
    happen: ({ messages }) => edit(messages, 1),
  },
  {
    name: 'the caller rewrites its last message as it goes on',
    cause: 'client_changed',
    detail: ({ messages }) => `message ${messages.length - 2}`,
    after: 2,
    happen: ({ messages }) => edit(messages, messages.length - 3),
  },
  {
    name: 'the caller drops its first messages',
    cause: 'client_changed',
    detail: () => 'message 1',
    after: 4,
    happen: (talk) => (talk.messages = talk.messages.slice(2)),
  },
  {
    name: 'the caller edits its system prompt',
    cause: 'client_changed',
    detail: () => 'system prompt',
    happen: (talk, _, random) => (talk.system += ` It is ${random()}.`),
  },
  {
    name: 'the caller adds a tool',
    cause: 'client_changed',
    detail: ({ tools }) => `tool ${tools.length}`,
    happen: ({ tools }) => tools.push(`tool_${tools.length}`),
  },
  {
    name: 'the caller changes a tool',
    cause: 'client_changed',
    detail: () => 'tool 1',
    happen: ({ tools }) => (tools[0] += '_new'),
  },
  {
    name: 'the caller leaves its cache markers out',
    cause: 'client_changed',
    detail: () => 'cache markers',
    formats: ['messages'],
    happen: (talk) => (talk.isUnmarked = true),
  },
  {
    name: 'a stage writes the time into the system prompt',
    cause: 'stage_changed',
    detail: () => 'dated-persona',
    goesOn: true,
    happen: ({ headers }) => (headers['x-dated'] = 'yes'),
  },
  {
    name: 'a stage adds a text to some requests',
    cause: 'stage_changed',
    detail: () => 'dated-persona',
    happen: ({ headers }) => (headers['x-dated'] = headers['x-dated'] === 'same' ? 'no' : 'same'),
  },
  {
    name: 'a stage rewrites messages',
    cause: 'stage_changed',
    detail: () => 'rewriter',
    happen: ({ headers }) => (headers['x-rewrite'] = 'yes'),
  },
  {
    name: 'a stage takes a tool away',
    cause: 'stage_changed',
    detail: () => 'tool-filter',
    happen: ({ headers }) => (headers['x-no-tool'] = 'yes'),
  },
  {
    name: 'a stage of the pipeline adds no more web search',
    cause: 'stage_changed',
    detail: () => 'web-search-tool',
    happen: ({ headers }) => (headers['x-gw-web-search'] = 'false'),
  },
  {
    name: 'the slot is out of service',
    cause: 'slot_moved',
    detail: () => /^[ab] to [ab]$/,
    happen: (_, world) => world.pauseSlot(),
  },
  {
    name: 'the lifetime runs out',
    cause: 'expired',
    detail: () => '61 min after its last use',
    happen: (_, world) => world.passMinutes(61),
  },
  {
    name: 'another model is asked',
    cause: 'model_changed',
    detail: () => 'sonnet-5 to haiku-5',
    happen: (talk) => (talk.model = 'haiku-5'),
  },
  {
    name: 'another effort is asked',
    cause: 'model_changed',
    detail: () => 'effort',
    formats: ['messages'],
    happen: (talk) => (talk.effort = 'low'),
  },
  {
    name: 'the tool choice changes',
    cause: 'model_changed',
    detail: () => 'tool_choice',
    formats: ['messages'],
    happen: (talk) => {
      talk.toolChoice = 'auto';
    },
  },
  {
    name: 'the provider forgets',
    cause: 'provider',
    detail: () => 'nothing changed',
    happen: (_, world) => world.forgetPrompts(),
  },
];

function edit(messages: Conversation['messages'], at: number): void {
  const message = messages[at]!;
  messages[at] = { ...message, texts: message.texts.map((text) => `${text} (edited)`) };
}

/** A new conversation of a random size. */
export function newConversation(random: Random): Conversation {
  return {
    model: 'sonnet-5',
    system: sentence(random, 30),
    tools: Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at) => `tool_${at}`),
    messages: [],
    headers: {},
  };
}

/** A turn of the user: some blocks of text. */
export function userTurn(random: Random): Conversation['messages'][number] {
  const blocks = 1 + Math.floor(random() * 3);
  return { role: 'user', texts: Array.from({ length: blocks }, () => sentence(random, 5 + random() * 60)) };
}

/** An answer, as the caller sends it back. */
export function answerTurn(random: Random): Conversation['messages'][number] {
  return { role: 'assistant', texts: [sentence(random, 5 + random() * 40)] };
}

const words = [
  'slot',
  'cache',
  'turn',
  'prompt',
  'agent',
  'a',
  'the',
  'reads',
  'writes',
  'naïve',
  '世界',
  '🌍',
];

function sentence(random: Random, count: number): string {
  const list = Array.from({ length: Math.ceil(count) }, () => words[Math.floor(random() * words.length)]);
  return `${list.join(' ')} ${Math.floor(random() * 1e9)}.`;
}

/** Path and body of the next turn of a conversation, in a format. */
export function requestOf(format: string, talk: Conversation): readonly [path: string, body: object] {
  return bodies[format]!(talk);
}

const schema = { type: 'object', properties: { query: { type: 'string' } } };

const bodies: Readonly<Record<string, (talk: Conversation) => readonly [string, object]>> = {
  messages: (talk) => {
    const { model, system, tools, messages, effort, toolChoice, isUnmarked } = talk;
    const mark = isUnmarked ? {} : { cache_control: { type: 'ephemeral' } };
    const last = messages.length - 1;
    return [
      '/v1/messages',
      {
        model,
        max_tokens: 500,
        system: [{ type: 'text', text: system, ...mark }],
        tools: tools.map((name) => ({ name, input_schema: schema })),
        messages: messages.map(({ role, texts }, at) => ({
          role,
          content: texts.map((text, block) => ({
            type: 'text',
            text,
            ...(at === last && block === texts.length - 1 && mark),
          })),
        })),
        ...(effort && { output_config: { effort } }),
        ...(toolChoice && { tool_choice: { type: toolChoice } }),
      },
    ];
  },
  chat: ({ model, system, tools, messages }) => [
    '/v1/chat/completions',
    {
      model,
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
      messages: [
        { role: 'system', content: system },
        ...messages.map(({ role, texts }) => ({ role, content: texts.join('\n') })),
      ],
    },
  ],
  responses: ({ model, system, tools, messages }) => [
    '/v1/responses',
    {
      model,
      store: false,
      instructions: system,
      tools: tools.map((name) => ({ type: 'function', name, parameters: schema })),
      input: messages.map(({ role, texts }) => ({ role, content: texts.join('\n') })),
    },
  ],
};

import { any, everywhere, field, text, type Part, type Place } from './places.js';

/** Effort, or the nearest words that a server has for it. */
function effort(word: string): Part {
  return {
    of: /^(?:reasoning_effort|reasoning|output_config\.effort)/,
    in: {
      messages: field('output_config.effort', word),
      chat: any(field('reasoning_effort', word), field('reasoning.effort', word)),
      responses: field('reasoning.effort', word),
    },
  };
}

/** Schema of the answer's form, by a text of it, as the server is held to it. */
function form(mark: string): Part {
  return {
    of: /^(?:response_format|text\.format|output_config\.format)/,
    in: {
      messages: text('output_config.format.schema', mark),
      chat: text('response_format.json_schema.schema', mark),
      responses: text('text.format.schema', mark),
    },
  };
}

const formName: Part = {
  of: /^(?:response_format|text\.format)/,
  in: {
    chat: field('response_format.json_schema.name', 'NAMEMARK'),
    responses: field('text.format.name', 'NAMEMARK'),
  },
};

/** Absent is false in Chat, and Messages has no such word. */
const looseForm: Part = {
  of: /^(?:response_format|text\.format)/,
  in: {
    messages: field('output_config.format.schema'),
    chat: (calls) =>
      field('response_format.json_schema.schema')(calls) &&
      !field('response_format.json_schema.strict', true)(calls),
    responses: field('text.format.strict', false),
  },
};

/** A setting that has the same value in each kind. */
function setting(of: RegExp, value: unknown, { messages, chat, responses }: SettingNames): Part {
  const place = (names: string): Place => any(...names.split(' ').map((name) => field(name, value)));
  return {
    of,
    in: {
      ...(messages !== undefined && { messages: place(messages) }),
      ...(chat !== undefined && { chat: place(chat) }),
      ...(responses !== undefined && { responses: place(responses) }),
    },
  };
}

interface SettingNames {
  readonly messages?: string;
  readonly chat?: string;
  readonly responses?: string;
}

/** A field of Chat that has the same name in each kind that takes it. */
function extra(name: string, value: unknown, chat = name, responses?: string): readonly Part[] {
  const of = new RegExp(`^(?:text\\.)?${name}`);
  return [setting(of, value, { chat, ...(responses !== undefined && { responses }) })];
}

const limit = (value: number): readonly Part[] => [
  setting(/^max_/, value, {
    messages: 'max_tokens',
    chat: 'max_tokens max_completion_tokens',
    responses: 'max_output_tokens',
  }),
];

const temperature = (value: number): Part =>
  setting(/^temperature/, value, { messages: 'temperature', chat: 'temperature', responses: 'temperature' });

const topP: Part = setting(/^top_p/, 0.83, { messages: 'top_p', chat: 'top_p', responses: 'top_p' });

function stop(mark: string): Part {
  return { of: /^stop/, in: { messages: text('stop_sequences', mark), chat: text('stop', mark) } };
}

/** The caller's session is kept by its slot, and by cache markers. */
const sessionName: Part = {
  of: /^prompt_cache_key/,
  in: {
    messages: () => true,
    chat: field('prompt_cache_key', 'PCKMARK'),
    responses: field('prompt_cache_key', 'PCKMARK'),
  },
};

const summary: Part = {
  of: /^reasoning/,
  in: { responses: field('reasoning.summary', 'auto') },
};

const detailed: Part = { of: /^reasoning/, in: { responses: field('reasoning.summary', 'detailed') } };

/** Parts of features by their names, those of settings. */
export const settingParts: Readonly<Record<string, readonly Part[]>> = {
  'audio output': [
    ...extra('modalities', ['text', 'audio']),
    ...extra('audio', { voice: 'alloy', format: 'wav' }),
  ],
  json_schema: [form('unit')],
  'text.format json_schema': [form('unit')],
  'output_config.format optional property': [form('unit')],
  'json_schema name': [formName],
  'json_schema strict:false stays': [looseForm],
  'json_schema minimum': [form('7')],
  json_object: [
    {
      of: /^response_format/,
      in: {
        chat: field('response_format.type', 'json_object'),
        responses: field('text.format.type', 'json_object'),
      },
    },
  ],
  'reasoning_effort high': [effort('high')],
  'reasoning_effort minimal': [effort('minimal')],
  'reasoning_effort xhigh': [effort('xhigh')],
  'reasoning minimal': [effort('minimal')],
  'effort max': [effort('max')],
  'reasoning effort + summary': [effort('high'), detailed],
  'reasoning summary detailed': [effort('high'), detailed],
  'reasoning summary alone': [summary],
  'thinking budget': [
    {
      of: /^thinking/,
      in: { messages: field('thinking.budget_tokens', 5432), chat: field('reasoning.max_tokens', 5432) },
    },
  ],
  'thinking disabled': [
    {
      of: /^thinking/,
      in: {
        messages: field('thinking.type', 'disabled'),
        chat: any(
          field('reasoning_effort', 'none'),
          field('reasoning.effort', 'none'),
          field('thinking.type', 'disabled'),
        ),
        responses: field('reasoning.effort', 'none'),
      },
    },
  ],
  prompt_cache_key: [sessionName],
  stop: [stop('STOPMARK')],
  'stop newline': [stop('\n')],
  'five stops': [stop('STOPFIVE')],
  logprobs: [
    { of: /^logprobs/, in: { chat: field('logprobs', true), responses: text('include', 'logprobs') } },
    ...extra('top_logprobs', 3, 'top_logprobs', 'top_logprobs'),
  ],
  top_logprobs: [
    ...extra('top_logprobs', 3, 'top_logprobs', 'top_logprobs'),
    { of: /^include/, in: { chat: field('logprobs', true), responses: text('include', 'logprobs') } },
  ],
  'n 2': [{ of: /^n$/, in: everywhere((calls) => calls.length === 2) }],
  seed: extra('seed', 424242, 'seed random_seed'),
  frequency_penalty: extra('frequency_penalty', 0.57),
  presence_penalty: extra('presence_penalty', 0.58),
  logit_bias: extra('logit_bias', { 4242: 7 }),
  'min_p (vLLM)': extra('min_p', 0.057),
  store: extra('store', true),
  service_tier: [...extra('service_tier', 'flex')],
  verbosity: extra('verbosity', 'low', 'verbosity', 'text.verbosity'),
  'text.verbosity': extra('verbosity', 'low', 'verbosity', 'text.verbosity'),
  prompt_cache_retention: extra(
    'prompt_cache_retention',
    '24h',
    'prompt_cache_retention',
    'prompt_cache_retention',
  ),
  'truncation auto': extra('truncation', 'auto', 'truncation', 'truncation'),
  max_tool_calls: extra('max_tool_calls', 3),
  temperature: [temperature(0.31)],
  'temperature and top_p': [temperature(0.31), topP],
  'temperature 1.7': [temperature(1.7)],
  top_k: [setting(/^top_k/, 37, { messages: 'top_k', chat: 'top_k' })],
  max_completion_tokens: limit(777),
  max_output_tokens: limit(777),
  context_management: [{ of: /^context_management/, in: { messages: field('context_management.edits') } }],
  'messages: service_tier': [setting(/^service_tier/, 'standard_only', { messages: 'service_tier' })],
  'messages: thinking block, own vendor signature': [
    {
      of: /messages\[1\]/,
      in: { messages: text('messages', 'THINKMARK'), chat: text('messages', 'THINKMARK') },
    },
  ],
  'beta header': [
    {
      of: /^model$/,
      in: {
        messages: ([call]) =>
          call?.beta.includes('context-1m') === true || text('anthropic_beta', 'context-1m')([call!]),
      },
    },
  ],
};

import { sealReasoning as sealForCaller } from '#plugins/formats/shared/reasoning.js';
import { sealReasoning as sealOfVendor } from '#plugins/upstreams/shared/reasoning-envelope.js';
import type { Call, Part, Step, Thought } from './conversations.js';

/** What a request says beside its conversation. */
export interface Terms {
  readonly model: string;
  /** Place of the cache marker among the steps, which moves from turn to turn. */
  readonly marked: number;
  readonly choice: Choice;
  /** The caller wants thinking, and an answer in a form. */
  readonly isDemanding: boolean;
}

export type Choice = 'absent' | 'auto' | 'none' | 'tool' | 'any' | 'allowed';

export interface Caller {
  readonly path: string;
  /** Choices of tools that the format has. */
  readonly choices: readonly Choice[];
  readonly body: (steps: readonly Step[], terms: Terms) => object;
}

const marker = { cache_control: { type: 'ephemeral' } };
const pdf = 'JVBERi0xLjQK';

const look = { type: 'object', properties: { at: { type: 'string' } } };
const find = {
  type: 'object',
  properties: { 'filter[id]': { type: 'integer' }, list: { type: 'array' } },
  required: ['filter[id]'],
  additionalProperties: false,
};

/** Thinking as a Messages block. */
function thinking(thought: Thought) {
  if (thought === 'redacted') return { type: 'redacted_thinking', data: 'c2VjcmV0' } as const;
  const signature =
    thought === 'signed'
      ? 'c2lnbmVk'
      : sealOfVendor({ vendor: 'deepseek', data: [{ type: 'reasoning.text' }] });
  return { type: 'thinking', thinking: 'Hm.', signature } as const;
}

/** List of parts, marked or not, or the text of a lone one that bears no marker. */
function contentOf(parts: readonly object[], isMarked: boolean): string | readonly object[] {
  const [first, ...others] = parts;
  if (isMarked) return [...parts.slice(0, -1), { ...parts.at(-1), ...marker }];
  return first && others.length === 0 && 'text' in first && typeof first.text === 'string'
    ? first.text
    : parts;
}

const inMessages = (part: Part): object => {
  if (part.type === 'text') return part;
  if (part.type === 'file')
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } };
  const data = part.url.split('base64,')[1];
  const source = data ? { type: 'base64', media_type: 'image/png', data } : { type: 'url', url: part.url };
  return { type: 'image', source };
};

function messageOf(step: Step, isMarked: boolean): object {
  if (step.role === 'user') return { role: 'user', content: contentOf(step.parts.map(inMessages), isMarked) };
  if (step.role === 'results')
    return {
      role: 'user',
      content: step.results.map(({ id, parts }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: contentOf(parts.map(inMessages), false),
      })),
    };
  if (step.role !== 'assistant') return { role: 'system', content: step.text };
  const said = [step.text, step.refusal].flatMap((text) =>
    text === undefined ? [] : [{ type: 'text', text }],
  );
  const calls = step.calls.map(({ id, name, input }) => ({
    type: 'tool_use',
    id,
    name: name.replace('.', '_'),
    input: JSON.parse(input) as object,
  }));
  return { role: 'assistant', content: [...step.thoughts.map(thinking), ...said, ...calls] };
}

const words: readonly Choice[] = ['absent', 'auto', 'none', 'tool', 'any'];
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

const messages: Caller = {
  path: '/v1/messages',
  choices: words,
  body: (steps, { model, marked, choice, isDemanding }) => ({
    model,
    max_tokens: 1000,
    system: 'You are brief.',
    messages: steps.map((step, at) => messageOf(step, at === marked)),
    tools: [
      { name: 'look', description: 'Looks.', input_schema: look },
      { name: 'find', input_schema: find, strict: true },
    ],
    ...(isDemanding && {
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    }),
    ...(choice !== 'absent' && { tool_choice: { type: choice, ...(choice === 'tool' && { name: 'look' }) } }),
  }),
};

const functionOf = ({ name, input }: Call): object => ({ name, arguments: input });

const inChat = (part: Part): object => {
  if (part.type === 'text') return part;
  if (part.type === 'file')
    return { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } };
  return { type: 'image_url', image_url: { url: part.url } };
};

function detailOf(thought: Thought): object {
  const block = thinking(thought);
  if (block.type === 'redacted_thinking') return { type: 'reasoning.encrypted', data: block.data };
  return { type: 'reasoning.text', text: block.thinking, signature: block.signature };
}

function chatMessages(step: Step, isMarked: boolean): readonly object[] {
  if (step.role === 'user')
    return [{ role: 'user', content: contentOf(step.parts.map(inChat), isMarked), name: step.name }];
  if (step.role === 'results')
    return step.results.map(({ id, parts }) => ({
      role: 'tool',
      tool_call_id: id,
      content: contentOf(parts.map(inChat), isMarked),
    }));
  if (step.role !== 'assistant') return [{ role: step.role, content: step.text }];
  const { thoughts, text, refusal, calls } = step;
  const tool_calls = calls.map((call) => ({ id: call.id, type: 'function', function: functionOf(call) }));
  return [
    {
      role: 'assistant',
      content: text ?? null,
      ...(refusal !== undefined && { refusal }),
      ...(thoughts.length > 0 && { reasoning_details: thoughts.map(detailOf) }),
      ...(calls.length > 0 && { tool_calls }),
    },
  ];
}

const lookFunction = { type: 'function', function: { name: 'look' } };

const chat: Caller = {
  path: '/v1/chat/completions',
  choices: [...words, 'allowed'],
  body: (steps, { model, marked, choice, isDemanding }) => ({
    model,
    messages: steps.flatMap((step, at) => chatMessages(step, at === marked)),
    tools: [
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters: look } },
      { type: 'function', function: { name: 'find', parameters: find, strict: true } },
    ],
    ...(isDemanding && {
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'form', schema } },
    }),
    ...choiceIn(choice, lookFunction, { allowed_tools: { mode: 'auto', tools: [lookFunction] } }),
  }),
};

const inResponses = (part: Part): object => {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'file')
    return { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` };
  return { type: 'input_image', image_url: part.url };
};

function items(step: Step, isMarked: boolean): readonly object[] {
  if (step.role === 'user')
    return [{ role: 'user', content: contentOf(step.parts.map(inResponses), isMarked) }];
  if (step.role === 'results')
    return step.results.map(({ id, parts }) => ({
      type: 'function_call_output',
      call_id: id,
      output: contentOf(parts.map(inResponses), false),
    }));
  if (step.role !== 'assistant') return [{ role: step.role, content: step.text }];
  const { thoughts, text, refusal, calls } = step;
  const said = text === undefined ? [] : [{ type: 'output_text', text }];
  const refused = refusal === undefined ? [] : [{ type: 'refusal', refusal }];
  const content = [...said, ...refused];
  return [
    ...thoughts.map((thought) => ({
      type: 'reasoning',
      summary: [],
      encrypted_content: sealForCaller(thinking(thought)),
    })),
    ...(content.length > 0 ? [{ type: 'message', role: 'assistant', content }] : []),
    ...calls.map((call) => ({ type: 'function_call', call_id: call.id, ...functionOf(call) })),
  ];
}

const responses: Caller = {
  path: '/v1/responses',
  choices: [...words, 'allowed'],
  body: (steps, { model, marked, choice, isDemanding }) => ({
    model,
    store: false,
    instructions: 'You are brief.',
    input: steps.flatMap((step, at) => items(step, at === marked)),
    tools: [
      { type: 'function', name: 'look', description: 'Looks.', parameters: look },
      { type: 'function', name: 'find', parameters: find, strict: true },
    ],
    ...(isDemanding && {
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'form', schema } },
    }),
    ...choiceIn(
      choice,
      { type: 'function', name: 'look' },
      { mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
    ),
  }),
};

function choiceIn(choice: Choice, named: object, allowed: object): object {
  if (choice === 'absent') return {};
  if (choice === 'tool') return { tool_choice: named };
  if (choice === 'allowed') return { tool_choice: { type: 'allowed_tools', ...allowed } };
  return { tool_choice: choice === 'any' ? 'required' : choice };
}

/** All that was said as one prompt. */
const completions: Caller = {
  path: '/v1/completions',
  choices: ['absent'],
  body: (steps, { model }) => ({ model, prompt: `Go on. ${JSON.stringify(steps)}` }),
};

/** Callers by format. */
export const callers: Readonly<Record<string, Caller>> = { messages, chat, responses, completions };

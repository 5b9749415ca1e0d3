import { expect } from 'chai';
import { eventsIn } from '../harness.js';

/** Item of an input or an output. */
export type Item = Readonly<Record<string, unknown>>;

const session = '019a5b2c-7e77-7d52-b2a1-3f0a5a6a7b80';

/** Headers of the CLI. */
export const codexHeaders = {
  'session-id': session,
  'thread-id': session,
  originator: 'a-cli',
  'user-agent': 'a-cli/0.60 (Linux)',
  accept: 'text/event-stream',
};

const grammar = 'start: begin_patch hunk+ end_patch\nbegin_patch: "*** Begin Patch" LF';

const tools = [
  {
    type: 'function',
    name: 'shell',
    description: 'Runs a command.',
    strict: false,
    parameters: {
      type: 'object',
      properties: { command: { type: 'array', items: { type: 'string' } } },
      required: ['command'],
      additionalProperties: false,
    },
  },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Changes files.',
    format: { type: 'grammar', syntax: 'lark', definition: grammar },
  },
  { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } },
  { type: 'web_search', external_web_access: false },
  {
    type: 'namespace',
    name: 'mcp__files',
    description: 'Files on a server.',
    tools: [
      {
        type: 'function',
        name: 'read_file',
        description: 'Reads.',
        strict: false,
        parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
    ],
  },
];

export function message(role: string, text: string): Item {
  return { type: 'message', role, content: [{ type: 'input_text', text }] };
}

/** A turn as the CLI sends it; `items` after the fixed beginning. */
export function turn(items: readonly Item[]): object {
  return {
    model: 'sonnet-5',
    instructions: 'You are a coding agent.',
    input: [
      message('developer', '<permissions>Ask first.</permissions>'),
      message('user', '<environment_context><cwd>/work</cwd></environment_context>'),
      ...items,
    ],
    tools,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: session,
    text: { verbosity: 'low' },
    client_metadata: { installation: 'one' },
  };
}

/** What the CLI keeps of an answer for the next turn: the items without their ids, and it needs `response.completed`. */
export function keptItems(stream: string): readonly Item[] {
  const events = eventsIn(stream) as { type?: string; item?: Item }[];
  expect(events.map(({ type }) => type)).to.include('response.completed');
  return events.flatMap(({ type, item }) => {
    if (type !== 'response.output_item.done' || !item) return [];
    const { id: _, ...kept } = item;
    return [kept];
  });
}

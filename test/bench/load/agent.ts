/** Thirty tools of an agent, 49 kB of JSON. */
export function agentTools(name: string): readonly object[] {
  return Array.from({ length: 30 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Tool ${at} of ${name}. ${text(800)}`,
    input_schema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: text(150) },
        pattern: { type: 'string', description: text(150) },
        limit: { type: 'integer', minimum: 1, maximum: 2000, description: text(100) },
        mode: { type: 'string', enum: ['read', 'write', 'append'], default: 'read' },
      },
      required: ['path'],
      additionalProperties: false,
    },
  }));
}

/** Two system blocks, 8 kB; the second ends what all turns of a session have in common. */
export function agentSystem(name: string): readonly object[] {
  return [
    { type: 'text', text: `You are an agent. ${text(1000)}` },
    { type: 'text', text: `The work of ${name}. ${text(7000)}`, cache_control: marker },
  ];
}

/** Message of an agent's conversation: a call of a tool, or its result, which is cached from the last two on. */
export function agentTurn(name: string, at: number, isCached: boolean): object {
  if (at % 2 === 1) return callOf(name, at);
  const cached = isCached && { cache_control: marker };
  if (at === 0)
    return { role: 'user', content: [{ type: 'text', text: `${name}: ${text(600)}`, ...cached }] };
  const content = `Result ${at} of ${name}. ${text(1150)}`;
  return {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: toolUseId(at - 1), content, ...cached }],
  };
}

function callOf(name: string, at: number): object {
  const input = { path: `/home/user/project/src/file-${at}.ts`, pattern: `${name} ${text(220)}`, limit: at };
  return {
    role: 'assistant',
    content: [
      { type: 'text', text: `Step ${at} of ${name}. ${text(350)}` },
      { type: 'tool_use', id: toolUseId(at), name: `tool_${at % 30}`, input },
    ],
  };
}

function toolUseId(at: number): string {
  return `toolu_${String(at).padStart(24, '0')}`;
}

const marker = { type: 'ephemeral' } as const;

const words =
  'A line of a file with a "quotation" in it, an arrow → and more.\n\tif (left < right) return left;\n';

const texts = new Map<number, string>();

/** Text of this length, the same each time. */
function text(length: number): string {
  const made = texts.get(length) ?? words.repeat(Math.ceil(length / words.length)).slice(0, length);
  texts.set(length, made);
  return made;
}

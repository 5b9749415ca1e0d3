import { expect } from 'chai';

type Fields = Readonly<Record<string, unknown>>;

/** A Chat body as what it says, however it is split into messages and parts. */
export function said(body: unknown): object {
  const { messages, tools, response_format, stop, ...rest } = body as Fields;
  const { temperature, top_p, reasoning_effort, user, parallel_tool_calls, tool_choice } = rest;
  const all = listOf(messages) as readonly Fields[];
  return {
    system: all.filter(isSystem).flatMap(texts).join('\n\n').trim(),
    turns: turnsOf(all.filter((message) => !isSystem(message))),
    tools: listOf(tools).map((tool) => functionOf(tool as Fields)),
    schema: schemaIn(response_format),
    stop: [stop ?? []].flat(),
    limit: rest['max_completion_tokens'] ?? rest['max_tokens'],
    settings: { temperature, top_p: top_p === 1 ? undefined : top_p, reasoning_effort, user },
    choice: tool_choice ?? 'auto',
    isSingle: parallel_tool_calls === false && tool_choice !== 'none',
  };
}

/** Schema without the rules that strict output needs, which the gateway adds where they are missing. */
function schemaIn(format: unknown): unknown {
  const { schema } = (format as { json_schema?: { schema?: unknown } } | undefined)?.json_schema ?? {};
  const json = JSON.stringify(schema, (key, value: unknown) =>
    key === 'additionalProperties' ? undefined : value,
  );
  return json === undefined ? undefined : (JSON.parse(json) as unknown);
}

function isSystem({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

/** Neighbouring messages of one role as one; images of tool results are what the user shows. */
function turnsOf(messages: readonly Fields[]): readonly object[] {
  const turns: { role: string; parts: unknown[] }[] = [];
  const add = (role: string, parts: readonly unknown[]) => {
    const last = turns.at(-1);
    if (parts.length === 0) return;
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  };
  for (const message of messages) {
    const { role, tool_calls, tool_call_id } = message;
    if (role === 'tool') {
      add('tool', [[tool_call_id, texts(message).join('\n')]]);
      add('user', media(message));
    } else {
      add(String(role), [...[texts(message).join(' ')].filter(Boolean), ...media(message)]);
      add(
        String(role),
        listOf(tool_calls).map((call) => callOf(call as Fields)),
      );
    }
  }
  return turns;
}

function texts({ content }: Fields): readonly string[] {
  if (typeof content === 'string') return [content.trim()].filter(Boolean);
  return listOf(content)
    .map((part) => (part as Fields)['text'])
    .filter((text): text is string => typeof text === 'string' && text.trim() !== '')
    .map((text) => text.trim());
}

function media({ content }: Fields): readonly unknown[] {
  if (typeof content === 'string') return [];
  return (listOf(content) as readonly { image_url?: string | { url: string }; file?: Fields }[]).flatMap(
    ({ image_url, file }) => [
      ...(image_url ? [typeof image_url === 'string' ? image_url : image_url.url] : []),
      ...(file ? [file['file_data']] : []),
    ],
  );
}

function callOf({ id, function: called }: Fields): object {
  const { name, arguments: json } = called as { name: string; arguments: string };
  expect(id).to.be.a('string');
  return { id, name, input: JSON.parse(json || '{}') as unknown };
}

function functionOf({ function: definition }: Fields): object {
  const { name, description, parameters, strict } = definition as Fields;
  return {
    name,
    description: description || undefined,
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: strict === true,
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

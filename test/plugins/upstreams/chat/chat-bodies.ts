import * as fc from 'fast-check';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => `w${text.trim()}`);
const image = fc.constantFrom('data:image/png;base64,aGk=', 'https://a.example/b.png');

const userParts = fc.array(
  fc.oneof(
    words.map((text) => ({ type: 'text', text })),
    image.map((url) => ({ type: 'image_url', image_url: { url } })),
  ),
  { minLength: 1, maxLength: 3 },
);

const user = fc.oneof(words, userParts).map((content) => [{ role: 'user', content }] as readonly object[]);

const names = fc.constantFrom('look', 'search_web', 'a-b');

const call = fc.tuple(
  names,
  fc.dictionary(words, fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 2 }),
);

/** An assistant's turn with calls, and their results; `turn` makes the ids its own. */
const toolTurn = fc
  .tuple(fc.option(words), fc.array(fc.tuple(call, words), { minLength: 1, maxLength: 3 }))
  .map(([text, calls]) => (turn: number): readonly object[] => [
    {
      role: 'assistant',
      content: text,
      tool_calls: calls.map(([[name, input]], at) => ({
        id: `call_${turn}_${at}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    },
    ...calls.map(([, content], at) => ({
      role: 'tool',
      tool_call_id: `call_${turn}_${at}`,
      content,
    })),
  ]);

const textTurn = words.map((content): readonly object[] => [{ role: 'assistant', content }]);

const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};

const tools = fc.subarray(['look', 'search_web', 'a-b'], { minLength: 1 }).chain((chosen) =>
  fc.record(
    {
      tools: fc.constant(
        chosen.map((name, at) => ({
          type: 'function',
          function: { name, description: `Tool ${name}.`, parameters: schema, strict: at === 0 },
        })),
      ),
      tool_choice: fc.constantFrom<unknown>('auto', 'required', 'none', {
        type: 'function',
        function: { name: chosen[0] },
      }),
      parallel_tool_calls: fc.boolean(),
    },
    { requiredKeys: ['tools'] },
  ),
);

const settings = fc.record(
  {
    temperature: fc.double({ min: 0, max: 1, noNaN: true }),
    top_p: fc.double({ min: 0.1, max: 0.99, noNaN: true }),
    stop: fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 4 })),
    max_completion_tokens: fc.integer({ min: 1, max: 100_000 }),
    user: fc.uuid(),
    response_format: fc.constant({ type: 'json_schema', json_schema: { name: 'a', schema, strict: true } }),
  },
  { requiredKeys: [] },
);

/** Bodies of Chat clients that say nothing but what Messages can carry, without repeated ids; calls go with tools. */
export const chatBodies: fc.Arbitrary<object> = fc
  .tuple(
    fc.option(words),
    user,
    fc.array(fc.tuple(fc.boolean(), textTurn, toolTurn, user), { maxLength: 3 }),
    fc.option(tools),
    settings,
  )
  .map(([system, first, turns, offered, others]) => ({
    model: 'gpt',
    messages: [
      ...(system === null ? [] : [{ role: 'system', content: system }]),
      ...first,
      ...turns.flatMap(([calls, said, called, next], turn) => [
        ...(offered && calls ? called(turn) : said),
        ...next,
      ]),
    ],
    ...offered,
    ...others,
  }));

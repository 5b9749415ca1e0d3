import { expect } from 'chai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import type OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { startPair, type Pair } from '../harness.js';
import { lastRequest, openaiAt } from './sdk-clients.js';

const model = 'sonnet-5';

/** What zod writes constraints for: each `z.int()` has a minimum and a maximum. */
const order = z.object({
  count: z.int(),
  price: z.number().positive().multipleOf(0.25),
  name: z.string().min(2).max(40),
  mail: z.email().nullable(),
  tags: z.array(z.string()).min(2).max(5),
  kind: z.union([z.object({ a: z.int() }), z.object({ b: z.string() })]),
});

const scores = z.object({ scores: z.record(z.string(), z.int()) });
const tree = z.object({
  value: z.string(),
  get children() {
    return z.array(tree);
  },
});

/** One report a tool, whatever was changed in its schema. */
const schemaOfTool = /^tools\[0\]\.(?:input_schema|parameters|function\.parameters)$/;

type Schema = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<'count' | 'name' | 'tags', Schema>>;

describe('schemas of the openai helpers', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  const dropped = async (call: { asResponse(): Promise<Response> }) =>
    (await call.asResponse()).headers.get('x-gw-dropped')?.split(', ') ?? [];
  const messages = [{ role: 'user' as const, content: 'An order?' }];
  const calling = [{ role: 'user' as const, content: 'Use take_order.' }];
  const propertiesOf = (schema: unknown) => (schema as { properties: Properties }).properties;
  const toolOf = (request: MessagesRequest) => request.tools?.find(({ name }) => name === 'take_order');

  it('are taken as the format of a Chat answer, the constraints in words', async () => {
    const response_format = zodResponseFormat(order, 'order');
    const reported = await dropped(client.chat.completions.create({ model, messages, response_format }));
    const { count, name, tags } = propertiesOf(lastRequest(pair).output_config?.format?.schema);
    expect(count).to.deep.equal({
      type: 'integer',
      description: '{minimum: -9007199254740991, maximum: 9007199254740991}',
    });
    expect(name).to.deep.equal({ type: 'string', description: '{minLength: 2, maxLength: 40}' });
    expect(tags).to.deep.include({ type: 'array', description: '{maxItems: 5, minItems: 2}' });
    expect(reported.join()).to.match(/^(response_format\.json_schema)\.schema,\1\.name$/);
  });

  it('are taken as the format of a response', async () => {
    const text = { format: zodTextFormat(order, 'order') };
    const reported = await dropped(client.responses.create({ model, input: 'An order?', text }));
    expect(lastRequest(pair).output_config?.format).to.include({ type: 'json_schema' });
    expect(reported.join()).to.equal('text.format.schema,text.format.name');
  });

  it('are taken as the parameters of strict tools in Chat', async () => {
    const tools = [zodFunction({ name: 'take_order', parameters: order })];
    const reported = await dropped(client.chat.completions.create({ model, messages: calling, tools }));
    expect(toolOf(lastRequest(pair))).to.include({ strict: true });
    expect(reported.join()).to.match(schemaOfTool);
    const { choices } = await client.chat.completions.parse({ model, messages: calling, tools });
    expect(choices[0]?.message.tool_calls?.[0]?.function.name).to.equal('take_order');
  });

  it('are taken as the parameters of strict tools in Responses', async () => {
    const tools = [zodResponsesFunction({ name: 'take_order', parameters: order })];
    const reported = await dropped(client.responses.create({ model, input: 'Use take_order.', tools }));
    expect(toolOf(lastRequest(pair))).to.include({ strict: true });
    expect(reported.join()).to.match(schemaOfTool);
  });

  it('stay strict where the root is a reference', async () => {
    const order = { type: 'object', properties: { dish: { type: 'string' } }, additionalProperties: false };
    const parameters = { $ref: '#/definitions/order', definitions: { order } };
    const definition = { name: 'take_order', parameters, strict: true };
    const tools = [{ type: 'function' as const, function: definition }];
    const reported = await dropped(client.chat.completions.create({ model, messages, tools }));
    expect(reported.join()).to.match(schemaOfTool);
    expect(toolOf(lastRequest(pair))).to.include({ strict: true });
    expect(toolOf(lastRequest(pair))?.input_schema).to.deep.include(order);
  });

  describe('with an open map or a recursion', () => {
    const open: Readonly<Record<string, Schema>> = {
      'an open map': z.toJSONSchema(scores),
      'a recursion': z.toJSONSchema(tree),
    };
    for (const [what, parameters] of Object.entries(open)) {
      it(`go without strict in Chat: ${what}`, async () => {
        const definition = { name: 'take_order', parameters, strict: true };
        const tools = [{ type: 'function' as const, function: definition }];
        const reported = await dropped(client.chat.completions.create({ model, messages: calling, tools }));
        expect(reported.join()).to.match(/^tools\[0\](?:\.function)?\.strict$/);
        expect(toolOf(lastRequest(pair))).to.deep.include({ input_schema: parameters });
        expect(toolOf(lastRequest(pair))).not.to.have.property('strict');
      });

      it(`go without strict in Responses: ${what}`, async () => {
        const tools = [{ type: 'function' as const, name: 'take_order', parameters, strict: true }];
        const reported = await dropped(client.responses.create({ model, input: 'Use take_order.', tools }));
        expect(reported.join()).to.match(/^tools\[0\](?:\.function)?\.strict$/);
        expect(toolOf(lastRequest(pair))).to.deep.include({ input_schema: parameters });
      });

      it(`are asked for in words where the answer is to have such a form: ${what}`, async () => {
        const json_schema = { name: 'odd', schema: parameters, strict: true };
        const response_format = { type: 'json_schema' as const, json_schema };
        const reported = await dropped(client.chat.completions.create({ model, messages, response_format }));
        expect(reported.join()).to.match(/^(?:output_config\.format|response_format)$/);
        expect(lastRequest(pair)).not.to.have.property('output_config');
        expect(JSON.stringify(lastRequest(pair).system)).to.include(
          JSON.stringify(JSON.stringify(parameters)).slice(1, -1),
        );
      });
    }
  });

  it('keep strict where a choice that cannot be forced names the tool', async () => {
    for (const parameters of [z.toJSONSchema(order), z.toJSONSchema(scores), z.toJSONSchema(tree)]) {
      const tools = [{ type: 'function' as const, function: { name: 'take_order', parameters } }];
      const tool_choice = { type: 'function' as const, function: { name: 'take_order' } };
      const body = { model: 'sonnet-5-5', messages, tools, tool_choice };
      const reported = await dropped(client.chat.completions.create(body));
      expect(lastRequest(pair).tool_choice).to.deep.equal({ type: 'auto' });
      expect(toolOf(lastRequest(pair))).to.include({ strict: true });
      expect(reported.join()).to.match(schemaOfTool);
    }
  });
});

import { expect } from 'chai';
import { GatewayError, type MessagesRequest, type SlotCall } from '#src/plugin/index.js';
import type { ResponsesSettings } from '#plugins/upstreams/responses/options.js';
import { responsesParts } from '#plugins/upstreams/responses/refused.js';
import { responsesRequest } from '#plugins/upstreams/responses/request/responses-request.js';
import { refusedIn } from '#plugins/upstreams/shared/losses/refused-part.js';
import { slotCall } from '../../../engine/slots/kit.js';

const user = { role: 'user', content: 'Hi.' } as const;
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const full: MessagesRequest = {
  model: 'm',
  system: 'Be brief.',
  messages: [user],
  max_tokens: 50,
  temperature: 0.2,
  top_p: 0.5,
  tools: [{ name: 'look', input_schema: schema, strict: true }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  metadata: { user_id: 'u' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'max', format: { type: 'json_schema', schema } },
};

const settings: ResponsesSettings = {
  encryptedReasoning: true,
  efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  strictTools: true,
  promptCacheKey: true,
  files: true,
  vendor: 'slot-a',
  unsupported: 'report',
};

function callOf(request = full, without: readonly string[] = []): SlotCall {
  const terms = { addedLimit: true, stickyKey: 's', without: new Set(without) };
  return slotCall({ request, ...terms });
}

function found(message: string, call = callOf(), asksForReasoning = true) {
  const failure = { kind: 'status', status: 400, headers: {} } as const;
  const error = new GatewayError('invalid_request_error', message, { status: 400, failure });
  return refusedIn(responsesParts(asksForReasoning), error, call);
}

function sent(without: readonly string[], request = full) {
  const terms = { stickyKey: 's', without: new Set(without) };
  const { body, losses } = responsesRequest(request, settings, terms);
  return { body, lost: losses.map(({ path }) => path) };
}

describe('the words of a Responses server', () => {
  for (const [message, part, isOfModel = true] of [
    ['Unsupported parameter: max_output_tokens', 'max_output_tokens'],
    [
      "Unsupported value: 'low'. Supported values are: 'medium' and 'high'. (reasoning.effort)",
      'effort=medium,high',
    ],
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model.", 'effort'],
    ['Encrypted content is not supported with this model.', 'include'],
    ["Unsupported parameter: 'prompt_cache_key'", 'prompt_cache_key'],
    ["Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'],
    ["Unsupported parameter: 'top_p' is not supported with this model.", 'top_p'],
    ["Unknown parameter: 'parallel_tool_calls'.", 'parallel_tool_calls'],
    ["Unknown parameter: 'safety_identifier'.", 'user'],
    ['max_output_tokens is too large: 50. This model supports at most 40 output tokens.', 'max_tokens=40'],
    ["Unsupported parameter: 'text.format' is not supported with this model.", 'output_format'],
    ["Unknown parameter: 'tools[0].strict'.", 'strict'],
    ['Invalid schema for response_format: schema is too complex', 'strict', false],
    ["Unsupported parameter: 'instructions'", 'system'],
    ['System messages are not supported with this model.', 'system'],
    ['Developer messages are not supported with this model.', 'system'],
  ] as const)
    it(`"${message.slice(0, 70)}" are about ${part}`, () =>
      expect(found(message)).to.include({ without: part, isOfModel }));

  it('are about the format where strict has gone already', () =>
    expect(found('The compiled grammar is too large', callOf(full, ['strict']))?.without).to.equal(
      'output_format',
    ));

  for (const message of [
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 99.",
    "Invalid 'input[0].content': string too long",
    "Invalid value for 'tool_choice'",
  ])
    it(`"${message}" are for the caller`, () => expect(found(message)).to.equal(undefined));

  it('are about no part that the request does not have', () => {
    const plain = slotCall({ request: { model: 'm', messages: [user] } });
    for (const message of [
      'temperature is not supported',
      'reasoning.effort: unknown',
      "Unsupported parameter: 'prompt_cache_key'",
      "Unsupported parameter: 'instructions'",
      'max_output_tokens: at most 40',
    ])
      expect(found(message, plain), message).to.equal(undefined);
    expect(found('Encrypted content is not supported', callOf(), false)).to.equal(undefined);
  });
});

describe('a Responses request', () => {
  for (const [entry, field, path] of [
    ['include', 'include', undefined],
    ['prompt_cache_key', 'prompt_cache_key', undefined],
    ['temperature', 'temperature', 'temperature'],
    ['top_p', 'top_p', 'top_p'],
    ['parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
    ['max_output_tokens', 'max_output_tokens', 'max_tokens'],
    ['user', 'safety_identifier', 'metadata.user_id'],
    ['effort', 'reasoning', 'output_config.effort'],
    ['output_format', 'text', 'output_config.format'],
    ['system', 'instructions', undefined],
  ] as const)
    it(`has no ${field} that the server has refused`, () => {
      expect(sent([]).body).to.have.property(field);
      const { body, lost } = sent([entry]);
      expect(body).to.not.have.property(field);
      expect(lost).to.deep.equal(path === undefined ? [] : [path]);
    });

  it('has the nearest effort of those that the server takes', () =>
    expect(sent(['effort=low,medium']).body['reasoning']).to.include({ effort: 'medium' }));

  it('has at most the limit that the server has named', () =>
    expect(sent(['max_tokens=40']).body).to.include({ max_output_tokens: 40 }));

  it('is without strict where that is refused', () => {
    const { body, lost } = sent(['strict']);
    expect(JSON.stringify(body)).to.not.include('"strict":true');
    expect(lost).to.include('tools[0].strict');
  });

  it('asks in words for a form that is refused', () => {
    const { body } = sent(['output_format']);
    expect(body['instructions']).to.match(/^Be brief\.\n\nAnswer with one valid JSON object/);
  });

  it('has its system text in the turns of the user where the server takes none', () => {
    const messages = [user, { role: 'system', content: 'Later.' } as const];
    expect(sent(['system'], { ...full, messages }).body.input).to.deep.equal([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Be brief.\n\nHi.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: '[System] Later.' }] },
    ]);
  });
});

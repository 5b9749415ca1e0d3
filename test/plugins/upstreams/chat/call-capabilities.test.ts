import { expect } from 'chai';
import { withExtras } from '@gw2api/gateway/plugin';
import { GatewayError, type MessagesRequest, type SlotCall } from '#src/plugin/index.js';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import type { PresetName } from '#plugins/upstreams/chat/presets.js';
import { chatParts } from '#plugins/upstreams/chat/refused.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { refusedIn } from '#plugins/upstreams/shared/losses/refused-part.js';
import { slotCall } from '../../../engine/slots/kit.js';

const user = { role: 'user', content: 'Hi.' } as const;
const schema = {
  type: 'object',
  properties: {
    pattern: { type: 'string', pattern: '^a$' },
    list: { type: 'array', items: { maxLength: 9 } },
  },
};
const full: MessagesRequest = {
  model: 'm',
  system: 'Be brief.',
  messages: [user],
  max_tokens: 50,
  temperature: 0.2,
  top_p: 0.5,
  top_k: 4,
  stop_sequences: ['END'],
  tools: [{ name: 'look', input_schema: schema, strict: true }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  metadata: { user_id: 'u' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'max', format: { type: 'json_schema', schema } },
};

function callOf(request = full, without: readonly string[] = []): SlotCall {
  return slotCall({ request, addedLimit: true, without: new Set(without) });
}

function found(message: string, call = callOf(), preset: PresetName = 'openai') {
  const failure = { kind: 'status', status: 400, headers: {} } as const;
  const error = new GatewayError('invalid_request_error', message, { status: 400, failure });
  return refusedIn(chatParts(capabilitiesOf({ preset, unsupported: 'report' }, 's')), error, call);
}

function sent(without: readonly string[], preset: PresetName = 'openai', request = full) {
  const capabilities = capabilitiesOf({ preset, unsupported: 'report' }, 's');
  const { body, losses } = chatRequest(request, capabilities, { without: new Set(without) });
  return { body, lost: losses.map(({ path }) => path) };
}

describe('the words of a Chat server', () => {
  for (const [message, part, isOfModel = true] of [
    [
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.",
      'effort=low,medium,high',
    ],
    ['Unrecognized request argument supplied: reasoning_effort', 'effort'],
    ['Argument not supported on this model: reasoningEffort', 'effort'],
    ['"max" is not a supported reasoning effort of this model', 'effort=low,medium,high'],
    [
      "Invalid value: 'max'. Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'.",
      'effort=none,low,medium,high,xhigh',
    ],
    ["body.reasoning_effort: Input should be 'low', 'medium' or 'high'", 'effort=low,medium,high'],
    ["Unsupported parameter: 'temperature' is not supported with this model.", 'temperature'],
    [
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      'temperature',
    ],
    ['top_p: Extra inputs are not permitted', 'top_p'],
    ["Unknown parameter: 'parallel_tool_calls'.", 'parallel_tool_calls'],
    ['[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]', 'stream_options'],
    [
      "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.",
      'max_tokens_field',
    ],
    ["Unsupported value: 'messages[0].role' does not support 'developer' with this model.", 'system=system'],
    ['max_tokens is too large: 50. This model supports at most 40 completion tokens.', 'max_tokens=40'],
    [
      "Unsupported value: 'max' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
      'effort=minimal,low,medium,high',
    ],
    ['invalid temperature: only 1 is allowed for this model', 'temperature'],
    [
      "[{'type': 'literal_error', 'loc': ('body', 'messages', 0, 'role'), 'msg': \"Input should be 'system', 'user', 'assistant' or 'tool'\", 'input': 'developer'}]",
      'system=system',
    ],
    [
      'messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`',
      'system=system',
    ],
    [
      "tools.0.custom.input_schema: property 'propertyNames' is not supported when strict is enabled",
      'strict',
      false,
    ],
    ["Unsupported parameter: 'stop' is not supported with this model.", 'stop_sequences'],
    ['Argument not supported on this model: stop', 'stop_sequences'],
    ['System role not supported', 'system=user'],
    ['Developer instruction is not enabled for models/gemma-3-27b-it', 'system=system'],
    ['Failed to initialize samplers: failed to parse grammar', 'grammar', false],
    ['The compiled grammar is too large', 'strict', false],
    [
      'Schemas contains too many optional parameters (30), which would make grammar compilation inefficient.',
      'strict',
      false,
    ],
    [
      'Schemas contains too many parameters with union types (17 parameters with type arrays or anyOf) which causes exponential compilation cost.',
      'strict',
      false,
    ],
    ["Invalid schema for response_format 'answer': schema is too complex", 'strict', false],
  ] as const)
    it(`"${message.slice(0, 70)}" are about ${part}`, () =>
      expect(found(message)).to.include({ without: part, isOfModel }));

  for (const message of [
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 99.",
    'This model has a context length of 4096 tokens',
    "Invalid value for 'tool_choice'",
    "Unsupported value: 'verbosity' does not support 'max'. Supported values are: 'low' and 'medium'.",
    "Invalid 'messages[0].content': string too long",
  ])
    it(`"${message}" are for the caller`, () => expect(found(message)).to.equal(undefined));

  it('are about no part that the request does not have', () => {
    const plain = callOf({ model: 'm', messages: [user] });
    for (const message of [
      'temperature is not supported',
      'reasoning_effort: unknown',
      'failed to parse grammar',
    ])
      expect(found(message, plain)).to.equal(undefined);
  });

  it('name the limit of a caller as well, unless what is left of the context is too little for an answer', () => {
    const call = slotCall({ request: { ...full, max_tokens: 32_000 } });
    const limit =
      '`max_completion_tokens` must be less than or equal to `8192`, which is less than the `context_window`';
    expect(found(limit, call)).to.deep.equal({ without: 'max_tokens=8192', isOfModel: true, isAsked: true });
    const left = (input: number) => `maximum context length is 32768 tokens (32000 > 32768 - ${input})`;
    expect(found(left(20_000), call)).to.deep.equal({
      without: 'max_tokens=12768',
      isOfModel: false,
      isAsked: true,
    });
    expect(found(left(32_000), call)).to.equal(undefined);
  });

  it('leave the other efforts to a model that cannot stop thinking', () => {
    const call = callOf({ ...full, thinking: { type: 'disabled' }, output_config: {} });
    const part = found('Reasoning is mandatory for this endpoint and cannot be disabled.', call);
    expect(part?.without).to.equal('effort=minimal,low,medium,high,xhigh,max');
  });

  it('are about the field that they name beside their message', () => {
    const failure = { kind: 'status', status: 400, headers: {} } as const;
    const about = (param: string) =>
      refusedIn(
        chatParts(capabilitiesOf({ preset: 'openai', unsupported: 'report' }, 's')),
        new GatewayError('invalid_request_error', 'Not supported with this model.', {
          status: 400,
          failure,
          param,
        }),
        callOf(),
      )?.without;
    expect(about('temperature')).to.equal('temperature');
    expect(about('reasoning_effort')).to.equal('effort');
    expect(about('messages[0].content')).to.equal(undefined);
  });

  it('lower an effort that the server lists, then leave it out', () => {
    const message = "reasoning_effort 'high' is not supported by this model";
    expect(found(message, callOf(full, ['effort=low,medium,high']))?.without).to.equal('effort');
    const strange = callOf({ ...full, output_config: { effort: "x'. supported values are: 'low'" } });
    expect(found("Unsupported effort 'x'. Supported values are: 'low'", strange)?.isOfModel).to.equal(false);
  });
});

describe('a Chat request', () => {
  it('has the nearest effort of those that the server takes, or none, reported', () => {
    expect(sent(['effort=low,medium']).body).to.include({ reasoning_effort: 'medium' });
    const { body, lost } = sent(['effort']);
    expect(body).to.not.have.property('reasoning_effort');
    expect(lost).to.include('output_config.effort');
  });

  it('has an effort after thinking could not be stopped, which is reported', () => {
    const entry = 'effort=minimal,low,medium,high,xhigh,max';
    const off: MessagesRequest = { ...full, thinking: { type: 'disabled' }, output_config: {} };
    for (const [preset, switchOff] of [
      ['openrouter', { reasoning: { effort: 'none' } }],
      ['deepseek', { thinking: { type: 'disabled' } }],
      ['groq', { reasoning_effort: 'none' }],
    ] as const) {
      const fields = Object.keys(switchOff);
      expect(sent([], preset, off).body).to.deep.include(switchOff);
      const { body, lost } = sent([entry], preset, off);
      expect(body).to.not.have.any.keys(...fields);
      expect(lost).to.include('thinking');
    }
    expect(sent([entry], 'groq').body).to.include({ reasoning_effort: 'high' });
  });

  it('has the limit that the server has named, reported to the caller who asked for more', () => {
    const { body, lost } = sent(['max_tokens=40']);
    expect(body).to.include({ max_completion_tokens: 40 });
    expect(lost).to.include('max_tokens');
  });

  it('has no effort for a model that does not think', () => {
    const capabilities = capabilitiesOf({ preset: 'openai', unsupported: 'report' }, 's');
    const { body } = chatRequest(full, capabilities, { profile: { thinking: 'none' } });
    expect(body).to.not.have.property('reasoning_effort');
  });

  for (const [entry, field, path] of [
    ['temperature', 'temperature', 'temperature'],
    ['top_p', 'top_p', 'top_p'],
    ['stop_sequences', 'stop', 'stop_sequences'],
    ['parallel_tool_calls', 'parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
    ['stream_options', 'stream_options', undefined],
  ] as const)
    it(`has no ${field} that the server has refused`, () => {
      expect(sent([]).body).to.have.property(field);
      const { body, lost } = sent([entry]);
      expect(body).to.not.have.property(field);
      if (path) expect(lost).to.include(path);
    });

  it('offers the allowed tools alone where the server has refused a list of them', () => {
    const tools = [{ name: 'look' }, { name: 'see' }];
    const allowed = withExtras({ ...full, tools }, { 'tool_choice.allowed_tools': ['see'] });
    const message = "Invalid value: 'allowed_tools'. Supported values are: 'function' and 'custom'.";
    expect(found(message, callOf(allowed))).to.include({ without: 'allowed_tools', isAsked: false });
    const { body, lost } = sent(['allowed_tools'], 'openai', allowed);
    expect([body.tools?.length, body['tool_choice']]).to.deep.equal([1, 'auto']);
    expect(lost.filter((path) => path.includes('tool'))).to.deep.equal([]);
  });

  it('has at most the limit that the server has named', () =>
    expect(sent(['max_tokens=40']).body).to.include({ max_completion_tokens: 40 }));

  it('names its limit as the server does', () => {
    expect(sent([]).body).to.include({ max_completion_tokens: 50 });
    expect(sent(['max_tokens_field']).body).to.include({ max_tokens: 50 });
  });

  it('has its system text in the first text of the user where the server takes none', () => {
    expect(sent(['system=system']).body.messages[0]).to.deep.equal({ role: 'system', content: 'Be brief.' });
    expect(sent(['system=user']).body.messages).to.deep.equal([
      { role: 'user', content: 'Be brief.\n\nHi.' },
    ]);
    const parts = [
      { type: 'text', text: 'See' },
      { type: 'image', source: { type: 'url', url: 'u' } },
    ] as const;
    const request = { ...full, messages: [{ role: 'user', content: parts } as const] };
    expect(sent(['system=user'], 'openai', request).body.messages).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      },
    ]);
  });

  it('has no keyword that a grammar may fail at, properties of such names included', () => {
    const { body, lost } = sent(['grammar'], 'llama-cpp');
    const [tool] = body.tools ?? [];
    expect(tool?.function.parameters).to.deep.equal({
      type: 'object',
      properties: { pattern: { type: 'string' }, list: { type: 'array', items: {} } },
    });
    expect(JSON.stringify(body['response_format'])).to.not.include('maxLength');
    expect(lost).to.include('tools[0].input_schema');
  });
});

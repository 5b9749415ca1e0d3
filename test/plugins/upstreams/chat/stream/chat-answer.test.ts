import { expect } from 'chai';
import { isGatewayError, type ModelEvent } from '@gw2api/gateway/plugin';
import { ChatAnswer } from '#plugins/upstreams/chat/stream/chat-answer.js';
import { ToolNames } from '#plugins/upstreams/shared/openai/tool-names.js';
import { openReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import { toldUsage } from '../../shared/told-usage.js';
import { chunk, counts, eventsOf, translate } from './answers.js';

const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

describe('the answer of a Chat server as Messages events', () => {
  it('is a text with its stop reason and usage', async () => {
    const { events, message } = await translate(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
      counts(usage),
      '[DONE]',
    );
    expect(message).to.deep.include({ id: 'msg_1', model: 'm-2026', role: 'assistant' });
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hello' }]);
    expect(message.stop_reason).to.equal('end_turn');
    expect(toldUsage(message.usage)).to.deep.equal({ input_tokens: 10, output_tokens: 4 });
    expect(events.map(({ type }) => type)).to.deep.equal([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('begins with the first choice, not with the prompt filter of Azure', async () => {
    const filter = { choices: [], id: '', model: '', prompt_filter_results: [{ prompt_index: 0 }] };
    const { message } = await translate(filter, chunk({ content: 'Hi' }, 'stop'), '[DONE]');
    expect(message.id).to.equal('msg_1');
  });

  it('has the id of the completion in the form of Messages, also where that has it already', async () => {
    for (const id of ['chatcmpl-7', 'msg_7', '7']) {
      const { message } = await translate(chunk({ content: 'Hi' }, 'stop', { id }), '[DONE]');
      expect(message.id, id).to.equal('msg_7');
    }
  });

  it('is choice 0 alone', async () => {
    const second = { choices: [{ index: 1, delta: { content: 'no' } }] };
    const { message } = await translate(chunk({ content: 'yes' }), second, chunk({}, 'stop'), '[DONE]');
    expect(message.content).to.deep.equal([{ type: 'text', text: 'yes' }]);
  });

  it('is complete without [DONE] once its finish reason and its counts have come', () => {
    const events = eventsOf(
      chunk({ content: 'a' }),
      chunk({}, 'stop'),
      counts(usage),
      chunk({ content: 'b' }),
    );
    expect(events.at(-1)?.type).to.equal('message_stop');
  });

  it('is complete at the end of the body if there was a finish reason', async () => {
    const { message } = await translate(chunk({ content: 'a' }, 'stop'));
    expect(message.stop_reason).to.equal('end_turn');
  });

  it('is interrupted at the end of the body without one', () => {
    expect(failureOf(() => eventsOf(chunk({ content: 'a' })))).to.deep.include({
      code: 'upstream_interrupted',
    });
  });

  it('is no success at [DONE] where the server has given neither finish reason nor usage', () => {
    const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };
    for (const delta of [{ content: 'a' }, { reasoning: 'a' }, { refusal: 'a' }, { tool_calls: [call] }])
      for (const finish of [null, 'null', ''])
        expect(failureOf(() => eventsOf(chunk(delta, finish), '[DONE]'))).to.deep.include({
          code: 'upstream_invalid_response',
          kind: 'interrupted',
        });
  });

  it('ends at [DONE] where the counts have come behind all content', async () => {
    const { message } = await translate(chunk({ content: 'a' }), counts(usage), '[DONE]');
    expect(message.stop_reason).to.equal('end_turn');
    const early = chunk({ content: 'a' }, null, { usage });
    expect(failureOf(() => eventsOf(early, chunk({ content: 'b' }), '[DONE]'))).to.deep.include({
      code: 'upstream_invalid_response',
    });
    expect(failureOf(() => eventsOf(early, early, '[DONE]'))).to.deep.include({
      code: 'upstream_invalid_response',
    });
  });

  it('ends at [DONE] where the slot says that its server never gives a reason', () => {
    const read = (...data: readonly string[]) => {
      const names = new ToolNames();
      const answer = new ChatAnswer({
        model: 'm',
        vendor: 'v',
        names,
        requestBytes: 1,
        isReasonOptional: true,
      });
      const events: ModelEvent[] = [];
      for (const each of data) answer.read(each, undefined, events);
      if (!answer.isOver) answer.finish(events);
      return events.find(({ type }) => type === 'message_delta')?.json;
    };
    const text = JSON.stringify(chunk({ content: 'a' }));
    expect(read(text, '[DONE]')).to.have.nested.property('delta.stop_reason', 'end_turn');
    const cut = { index: 0, id: 'c', function: { name: 'f', arguments: '{"a":"b' } };
    const call = JSON.stringify(chunk({ tool_calls: [cut] }));
    expect(read(call, '[DONE]')).to.have.nested.property('delta.stop_reason', 'max_tokens');
    expect(() => read(text)).to.throw('before it was complete');
  });

  describe('whose chunks all have a finish reason', () => {
    it('ends with the last one, at [DONE], at its counts or with the body', async () => {
      const pieces = [chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }, 'length')];
      for (const end of [['[DONE]'], [counts(usage)], []]) {
        const { message } = await translate(...pieces, ...end);
        expect(message.content).to.deep.equal([{ type: 'text', text: 'ab' }]);
        expect(message.stop_reason).to.equal('max_tokens');
      }
    });

    it('does not end in a silence, nor with an error', () => {
      const answer = new ChatAnswer({ model: 'm', vendor: 'v', names: new ToolNames(), requestBytes: 1 });
      const read = (data: object) => answer.read(JSON.stringify(data), undefined, []);
      read(chunk({ content: 'a' }, 'stop'));
      expect(answer.settlesInMs).to.equal(6000);
      read(chunk({ content: 'b' }, 'stop'));
      expect(answer.settlesInMs).to.equal(undefined);
      expect(() => read({ error: { message: 'no', code: 503 } })).to.throw('no');
    });
  });

  it('repeats no text that the last chunk has whole', async () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{"x":1}' } };
    const message = { role: 'assistant', content: 'Hello', reasoning: 'Hm.', tool_calls: [call] };
    const last = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const said = [chunk({ reasoning: 'Hm.' }), chunk({ content: 'Hel' }), chunk({ content: 'lo' })];
    const repeated = await translate(...said, chunk({ tool_calls: [call] }), last, '[DONE]');
    expect(repeated.message.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use']);
    expect(repeated.message.content[1]).to.have.property('text', 'Hello');
    const added = await translate(...said, last, '[DONE]');
    expect(added.message.content.at(-1)).to.deep.include({ name: 'f', input: { x: 1 } });
  });

  it('has no stop reason where there was nothing at all, so that the call is made again', async () => {
    const { message } = await translate(chunk({ role: 'assistant', content: '' }), '[DONE]');
    expect(message.stop_reason).to.equal(null);
    expect(message.content).to.deep.equal([]);
  });

  for (const [name, text] of Object.entries({ 'bad JSON': '{"choices":[', 'a text': '"hello"' }))
    it(`fails at ${name}`, () => {
      expect(failureOf(() => eventsOf(chunk({ content: 'a' }), text))).to.deep.include({
        code: 'upstream_interrupted',
        kind: 'interrupted',
      });
    });

  describe('bad JSON in an answer that is let out as it comes', () => {
    const bad = '{"choices":[';
    const read = (...data: readonly (object | string)[]) => {
      let leftOut = 0;
      const answer = new ChatAnswer({
        model: 'm',
        vendor: 'v',
        names: new ToolNames(),
        requestBytes: 1,
        onLeftOut: () => void (leftOut += 1),
      });
      const events: ModelEvent[] = [];
      for (const each of data)
        answer.read(typeof each === 'string' ? each : JSON.stringify(each), undefined, events);
      return { events, leftOut };
    };

    it('is left out once, after the first content', () => {
      const { events, leftOut } = read(
        chunk({ content: 'a' }),
        bad,
        chunk({ content: 'b' }),
        chunk({}, 'stop'),
        '[DONE]',
      );
      expect(leftOut).to.equal(1);
      expect(events.map(({ data }) => data).join('')).to.include('"b"');
      expect(events.at(-1)?.type).to.equal('message_stop');
    });

    it('is an error where a part of the answer is in it', () => {
      const text = chunk({ content: 'a' });
      for (const lost of [
        'NaN',
        '{"choices":[{"index":0,"delta":{"content":"b"},"logprobs":NaN}]}',
        '{"choices":[{"index":0,"delta":{"content":"b',
        '{"choices":[{"index":0,"delta":{},"finish_reason":"length",',
      ])
        expect(() => read(text, lost), lost).to.throw('not JSON');
    });

    it('is an error before it, the second time, and where a tool is called', () => {
      const call = chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{' } }] });
      for (const data of [[bad], [chunk({ content: 'a' }), bad, bad], [chunk({ content: 'a' }), call, bad]])
        expect(() => read(...data)).to.throw('not JSON');
    });
  });

  for (const [finish, stop] of Object.entries({
    stop: 'end_turn',
    length: 'max_tokens',
    model_length: 'max_tokens',
    incomplete: 'max_tokens',
    MAX_TOKENS: 'max_tokens',
    max_output_tokens: 'max_tokens',
    model_context_window_exceeded: 'max_tokens',
    content_filter: 'refusal',
    'content-filter': 'refusal',
    SAFETY: 'refusal',
    'FinishReason.RECITATION': 'refusal',
    'something new': 'end_turn',
    eos: 'end_turn',
    tool_calls: 'end_turn',
  }))
    it(`ends with ${stop} for the finish reason "${finish}"`, async () => {
      const { message } = await translate(chunk({ content: 'a' }), chunk({}, finish), '[DONE]');
      expect(message.stop_reason).to.equal(stop);
    });

  it('names the stop sequence that vLLM names', async () => {
    const ending = {
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', stop_reason: 'END' }],
    };
    const { message } = await translate(ending, '[DONE]');
    expect(message).to.deep.include({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  it('names the stop sequence that SGLang has matched, where that is a text', async () => {
    const ending = (matched_stop: unknown) => ({
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop', matched_stop }],
    });
    const named = await translate(ending('END'), '[DONE]');
    expect(named.message).to.deep.include({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    const token = await translate(ending(151645), '[DONE]');
    expect(token.message).to.deep.include({ stop_reason: 'end_turn', stop_sequence: null });
  });

  it('is a refusal in its own words, of no category', async () => {
    const { message } = await translate(
      chunk({ refusal: "I'm" }),
      chunk({ refusal: ' sorry' }),
      chunk({}, 'stop'),
      '[DONE]',
    );
    expect(message.stop_reason).to.equal('refusal');
    expect(message.stop_details).to.deep.equal({
      type: 'refusal',
      category: null,
      explanation: "I'm sorry",
    });
  });

  it('fails where a refusal does not end', () => {
    const pieces = Array.from({ length: 3 }, () => chunk({ refusal: 'x'.repeat(400_000) }));
    expect(() => eventsOf(...pieces)).to.throw(/a refusal that is too long/);
  });

  it('cites the pages of its annotations', async () => {
    const page = { type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } };
    const { message } = await translate(
      chunk({ content: 'so' }),
      chunk({ annotations: [page, { type: 'url_citation' }, 7] }, 'stop'),
      '[DONE]',
    );
    const [block] = message.content as readonly { citations?: readonly object[] }[];
    expect(block?.citations).to.have.length(1);
    expect(block?.citations?.[0]).to.deep.include({ url: 'https://a.example/', title: 'A' });
  });

  describe('fails where the server reports an error inside a 200', () => {
    const cases: readonly (readonly [string, object, { status: number; code: string }])[] = [
      ['with a code', { error: { message: 'no', code: 429 } }, { status: 429, code: 'rate_limit_error' }],
      ['with a status', { error: { message: 'no', code: 'tool_use_failed', status_code: 400 } }, { status: 400, code: 'tool_use_failed' }],
      ['by its type', { error: { message: 'no', type: 'overloaded_error' } }, { status: 503, code: 'overloaded_error' }],
      ['as a text', { error: 'out of memory' }, { status: 502, code: 'upstream_error' }],
      ['of vLLM', { object: 'error', message: 'no', type: 'BadRequestError', code: 400 }, { status: 400, code: 'BadRequestError' }],
    ]; // prettier-ignore
    for (const [name, error, expected] of cases)
      it(name, () => {
        expect(failureOf(() => eventsOf(chunk({ content: 'a' }), error))).to.deep.include({
          ...expected,
          kind: 'status',
        });
      });

    it('unless the answer has its finish reason already', async () => {
      const error = { error: { code: 400, message: 'Token limit reached' } };
      const { message } = await translate(chunk({ content: 'a' }, 'length'), error, '[DONE]');
      expect(message.stop_reason).to.equal('max_tokens');
    });

    it('as its finish reason', () => {
      const words = ['error', 'abort', 'Cancelled', 'network_error', 'server-error', 'timeout'];
      for (const word of words)
        expect(
          failureOf(() => eventsOf(chunk({ content: 'a' }, word))),
          word,
        ).to.deep.include({
          status: 502,
        });
    });
  });
});

describe('the thinking of a Chat server', () => {
  const signed = (content: readonly unknown[]) => {
    const [{ type, thinking, signature }] = content as [Record<string, string>];
    return { type, thinking, envelope: openReasoning(signature!) };
  };

  for (const field of ['reasoning_content', 'reasoning'])
    it(`comes as ${field} and is sealed by its vendor`, async () => {
      const { message } = await translate(
        chunk({ [field]: 'Let me', content: null }),
        chunk({ [field]: ' see.' }),
        chunk({ content: 'Yes.' }, 'stop'),
        '[DONE]',
      );
      expect(signed(message.content)).to.deep.equal({
        type: 'thinking',
        thinking: 'Let me see.',
        envelope: { vendor: 'acme' },
      });
      expect(message.content[1]).to.deep.equal({ type: 'text', text: 'Yes.' });
    });

  it('comes as content of the analysis channel', async () => {
    const { message } = await translate(
      chunk({ content: 'Hm.', channel: 'analysis' }),
      chunk({ content: 'Yes.', channel: 'final' }, 'stop'),
      '[DONE]',
    );
    expect(message.content.map(({ type }) => type)).to.deep.equal(['thinking', 'text']);
  });

  it('comes as a part of the content', async () => {
    const { message } = await translate(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
      chunk({ content: [{ type: 'text', text: 'Yes.' }] }, 'stop'),
      '[DONE]',
    );
    expect(signed(message.content).thinking).to.equal('Hm.');
    expect(message.content[1]).to.deep.equal({ type: 'text', text: 'Yes.' });
  });

  it('keeps its details, put together, in the envelope', async () => {
    const detail = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1' };
    const { message } = await translate(
      chunk({ reasoning: null, reasoning_details: [{ ...detail, text: '', signature: '' }] }),
      chunk({ reasoning: 'This', reasoning_details: [{ ...detail, text: 'This' }] }),
      chunk({ reasoning: ' is', reasoning_details: [{ ...detail, text: ' is' }] }),
      chunk({ reasoning: null, reasoning_details: [{ ...detail, signature: 'c2ln' }] }),
      chunk({ content: 'Yes.', reasoning_details: [] }, 'stop'),
      '[DONE]',
    );
    expect(signed(message.content)).to.deep.equal({
      type: 'thinking',
      thinking: 'This is',
      envelope: { vendor: 'acme', data: [{ ...detail, text: 'This is', signature: 'c2ln' }] },
    });
  });

  it('is not repeated by details that come at its end', async () => {
    const { message } = await translate(
      chunk({ reasoning_content: 'This' }),
      chunk({ reasoning_content: ' is' }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'This is', signature: 'c2ln' }] }),
      chunk({ content: 'Yes.' }, 'stop'),
      '[DONE]',
    );
    expect(signed(message.content)).to.deep.equal({
      type: 'thinking',
      thinking: 'This is',
      envelope: { vendor: 'acme', data: [{ type: 'reasoning.text', text: 'This is', signature: 'c2ln' }] },
    });
  });

  it('is the text of its details where there is no other', async () => {
    const { message } = await translate(
      chunk({ reasoning_details: [{ type: 'reasoning.summary', summary: 'In short', index: 0 }] }),
      chunk({ content: 'Yes.' }, 'stop'),
      '[DONE]',
    );
    expect(signed(message.content).thinking).to.equal('In short');
  });

  it('may be encrypted whole, and then has a block without a text', async () => {
    const detail = { type: 'reasoning.encrypted', data: 'abc', id: 'rs_1', index: 0 };
    const { message } = await translate(
      chunk({ content: 'Yes.' }),
      chunk({ reasoning_details: [detail] }, 'stop'),
      '[DONE]',
    );
    expect(message.content.map(({ type }) => type)).to.deep.equal(['text', 'thinking']);
    expect(openReasoning(String(message.content[1]!['signature']))?.data).to.deep.equal([detail]);
  });

  it('keeps no field of its details that could be of any size', async () => {
    const detail = { type: 'reasoning.encrypted', data: 'abc', index: 0 };
    const { message } = await translate(
      chunk({ content: 'Yes.' }),
      chunk({ reasoning_details: [{ ...detail, more: { deep: ['x'] } }] }, 'stop'),
      '[DONE]',
    );
    expect(openReasoning(String(message.content[1]!['signature']))?.data).to.deep.equal([detail]);
  });

  it('has no block where its details are empty', async () => {
    const { message } = await translate(
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: '', signature: '' }] }),
      chunk({ content: 'Yes.' }, 'stop'),
      '[DONE]',
    );
    expect(message.content.map(({ type }) => type)).to.deep.equal(['text']);
  });

  it('is sent without its details where they are too long to come back', async () => {
    const text = 'x'.repeat(3_000_000);
    const { message } = await translate(
      chunk({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] }),
      chunk({ content: 'Yes.' }, 'stop'),
      '[DONE]',
    );
    expect(signed(message.content).envelope).to.deep.equal({ vendor: 'acme' });
  });
});

/** The fields of the error that a step throws. */
function failureOf(step: () => unknown): object {
  try {
    step();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const { code, status, failure, message } = error;
    return { code, status, kind: failure?.kind, message };
  }
  throw new Error('It did not fail.');
}

import { expect } from 'chai';
import responses from '#plugins/formats/responses/index.js';
import { GatewayError } from '#src/plugin/index.js';
import { end, made, messageStart, refused, text, tool } from '../events.js';
import { checkFailed, checkResponses } from '../grammar/responses.js';
import { contextOf, replyOf, streamed, whole } from '../streams.js';

const body = { model: 'asked', input: 'Hi', store: false };
const options = { codexClients: ['codex*'] };
const head = made(messageStart());

type Events = Parameters<typeof replyOf>[0];

async function answered(events: Events, originator = 'codex_cli_rs') {
  const context = { ...contextOf(), options, headers: { originator } };
  const sent = await streamed(responses, body, replyOf(events), context);
  const response = checkResponses(sent.text);
  const reply = await whole(responses, body, replyOf(events), context);
  expect(reply).to.include({ status: response.status });
  return response;
}

async function failed(error: GatewayError, originator = 'codex_cli_rs') {
  const context = { ...contextOf(), options, headers: { originator } };
  const { text: sent } = await streamed(responses, body, replyOf(head, [], error), context);
  checkFailed(sent);
  const data = /^data: (.*"type":"response\.failed".*)$/m.exec(sent)?.[1] ?? '{}';
  return (JSON.parse(data) as { response: { error: { code: string; message: string } } }).response.error;
}

describe('an answer to Codex', () => {
  it('is complete where it stopped by length', async () => {
    for (const stop of ['max_tokens', 'model_context_window_exceeded']) {
      const response = await answered([...head, ...text('Hm'), ...end(stop)]);
      expect(response).to.include({ status: 'completed', incomplete_details: null });
      expect(response.output[0]).to.include({ status: 'completed' });
    }
  });

  it('stays incomplete where a call was cut, which must not run', async () => {
    const cut = tool('toolu_1', 'apply_patch', '{"input":"*** Beg');
    const response = await answered([...head, ...text('Hm'), ...cut, ...end('max_tokens')]);
    expect(response).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it('says why the provider refused in text that Codex shows', async () => {
    const alone = await answered([...head, ...refused('Too hot.')]);
    expect(alone.output[0]).to.have.nested.property('content[0].type', 'output_text');
    expect(alone.output[0]).to.have.nested.property('content[0].text', 'Too hot.');
    const partly = await answered([...head, ...text('I'), ...refused('Too hot.')]);
    expect(partly.output[0]).to.have.nested.property('content[0].text', 'I\n\nToo hot.');
    expect(partly.output).to.have.length(1);
  });

  it('names the wait of a rate limit where Codex reads it', async () => {
    const limit = { status: 429, type: 'rate_limit_error' };
    const named = new GatewayError('rate_limited', 'Slow down.', {
      ...limit,
      headers: { 'retry-after': '7' },
    });
    expect(await failed(named)).to.deep.equal({
      code: 'rate_limit_exceeded',
      message: 'Slow down. Please try again in 7 s.',
    });
    expect((await failed(new GatewayError('rate_limited', 'Slow down.', limit))).message).to.match(
      /try again in \d+ s\.$/,
    );
    const stated = new GatewayError('rate_limited', 'Please try again in 1.5s.', limit);
    expect((await failed(stated)).message).to.equal('Please try again in 1.5s.');
  });

  it('keeps the codes that clients act on', async () => {
    for (const code of ['context_length_exceeded', 'insufficient_quota', 'cyber_policy']) {
      const error = new GatewayError(code, 'No.', { status: 400, type: 'invalid_request_error' });
      expect(await failed(error, 'other')).to.deep.equal({ code, message: 'No.' });
    }
  });

  it('is not given to clients of another name', async () => {
    const cut = [...head, ...text('Hm'), ...end('max_tokens')];
    expect(await answered(cut, 'my-codex')).to.include({ status: 'incomplete' });
    expect(await answered(cut, 'Codex Desktop')).to.include({ status: 'completed' });
    const refusal = await answered([...head, ...refused('Too hot.')], 'other');
    expect(refusal.output[0]).to.have.nested.property('content[0].type', 'refusal');
  });
});

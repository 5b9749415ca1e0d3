import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { formsOf } from '#src/engine/masking/secret-forms.js';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { scripted, type Parts, type ScriptedUpstream } from '../../scripted-upstream.js';
import { sse } from '../../../engine/transport/upstream-kit.js';

const key = 'k7Qm2"xV9/pLw 4Rt8Zb1Nc'; // each form differs from the others
const forms = formsOf(key);
const quoted = `Incorrect key: ${forms.join(' | ')}.`;
const error = { type: 'invalid_request_error', code: key, message: quoted, details: { [key]: [quoted] } };
const errorEvent = { type: 'error', error };
const json = { 'content-type': 'application/json' };
const streams = { 'content-type': 'text/event-stream' };

const requests: Readonly<Record<string, object>> = {
  '/v1/messages': ask('Hello!'),
  '/v1/messages/count_tokens': ask('Hello!'),
  '/v1/chat/completions': { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }] },
  '/v1/responses': { model: 'sonnet-5', input: 'Hello!' },
  '/v1/completions': { model: 'sonnet-5', prompt: 'Hello!' },
};

type Serve = (response: ServerResponse, parts: Parts) => unknown;

const answers: Readonly<Record<string, Serve>> = {
  'an error answer': (response) => response.writeHead(400, json).end(JSON.stringify({ error })),
  'an error event in place of content': (response) => response.writeHead(200, streams).end(sse(errorEvent)),
  'an error event after content': (response, { start, text }) =>
    response.writeHead(200, streams).end(`${start}${text('Once')}${sse(errorEvent)}`),
  'an error of Chat after content': (response) =>
    response
      .writeHead(200, streams)
      .end(
        `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { content: 'Once' } }] })}\n\n` +
          `data: ${JSON.stringify({ error })}\n\n`,
      ),
};

describe('the key of an account that its upstream quotes', () => {
  let serve: Serve;
  let upstream: ScriptedUpstream;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    upstream = await scripted((_, response, parts) => serve(response, parts));
  });
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });
  const start = async (settings: object): Promise<void> => {
    const account = { kind: 'bearer', token: key };
    under = await startGateway({ slots: [slotAt(upstream.url, { account, ...settings })] });
  };

  for (const [what, answer] of Object.entries(answers))
    for (const settings of [{}, { upstream: 'chat' }])
      it(`reaches no caller by ${what}, from ${JSON.stringify(settings)}`, async () => {
        await start(settings);
        serve = answer;
        for (const [path, body] of Object.entries(requests))
          for (const stream of [false, true]) {
            under.gateway.services.slots.resume('a');
            const response = await under.post(path, { ...body, stream });
            const all = JSON.stringify([...response.headers]) + (await response.text().catch(String));
            expect(
              forms.filter((form) => all.includes(form) || all.includes(JSON.stringify(form).slice(1, -1))),
            ).to.deep.equal([], `${path} ${all}`);
          }
      });

  it('leaves all other words of the upstream as they are', async () => {
    const words = 'sk-ant-api03-of-somebody-else, Bearer abcdef123456, ?user=me, and the rest';
    await start({});
    serve = (response) =>
      response.writeHead(400, json).end(JSON.stringify({ error: { ...error, message: `${words} ${key}` } }));
    const body = (await (await under.post('/v1/messages', ask('Hello!'))).json()) as { error: object };
    expect(body.error).to.include({ message: `${words} ***` });
  });

  it('is not in a diagnosis', async () => {
    await start({});
    serve = (response) => response.writeHead(401, json).end(JSON.stringify({ error }));
    const response = await under.post('/admin/slots/a/diagnose', {});
    const text = await response.text();
    expect(text).to.include('Incorrect key');
    expect(forms.filter((form) => text.includes(JSON.stringify(form).slice(1, -1)))).to.deep.equal([]);
  });
});

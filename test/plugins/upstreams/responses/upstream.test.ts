import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { foldMessage } from '@gw2api/gateway/plugin';
import { upstreamChecks, type PlayedScenario, type UpstreamScenario } from '@gw2api/gateway/testing';
import responses from '#plugins/upstreams/responses/index.js';
import { eventStream, Kit, later, rejection } from '../../../engine/transport/upstream-kit.js';
import { keyedCall, openKind, serveChat, type Asked } from '../chat/server.js';
import { streamOf } from './answers.js';

const created = { type: 'response.created', response: { id: 'resp_1', model: 'gpt' } };
const delta = (text: string) => ({ type: 'response.output_text.delta', output_index: 0, delta: text });
const usage = { input_tokens: 3, output_tokens: 2 };
const completed = { type: 'response.completed', response: { usage } };
const whole = streamOf(created, delta('Hél'), delta('lo'), completed);

describe('the upstream responses', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  it('posts to the path below the base URL, with the key as Bearer', async () => {
    const { promise, resolve } = later<Asked>();
    const url = await serveChat(kit, (response, request) => {
      resolve(request);
      response.writeHead(200, eventStream).end(whole);
    });
    const upstream = await openKind(responses, kit, `${url}/v1`);
    const reply = await upstream.generate(keyedCall());
    const { content, usage: used } = await foldMessage(reply.events);
    expect(content).to.deep.equal([{ type: 'text', text: 'Héllo' }]);
    expect(used).to.deep.include(usage);
    const { url: path, headers, body } = await promise;
    expect(path).to.equal('/v1/responses');
    expect(headers).to.include({ authorization: 'secret' });
    expect(body).to.deep.include({ model: 'm', stream: true, store: false });
  });

  it('reads an answer of a server that does not stream', async () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }];
    const url = await serveChat(kit, (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ object: 'response', output, usage })),
    );
    const { events } = await (await openKind(responses, kit, url)).generate(keyedCall());
    expect((await foldMessage(events)).content).to.deep.equal([{ type: 'text', text: 'Hi' }]);
  });

  it('refuses with the server\u2019s status and code, and what is no answer of a Responses server', async () => {
    const failure = async (status: number, body: string) => {
      const headers = { 'content-type': 'application/json' };
      const url = await serveChat(kit, (response) => response.writeHead(status, headers).end(body));
      const upstream = await openKind(responses, kit, url);
      return rejection(upstream.generate(keyedCall()));
    };
    const error = { message: 'No such model.', type: 'invalid_request_error', code: 'model_not_found' };
    expect(await failure(404, JSON.stringify({ error }))).to.include({
      status: 404,
      code: 'model_not_found',
    });
    expect(await failure(200, '{"choices":[]}')).to.include({ code: 'upstream_invalid_response' });
  });

  it('lists the models', async () => {
    const url = await serveChat(kit, (response, { url: path }) =>
      response.writeHead(path === '/v1/models' ? 200 : 404).end('{"data":[{"id":"gpt"}]}'),
    );
    const { authorize, signal } = keyedCall();
    const upstream = await openKind(responses, kit, `${url}/v1`);
    const query = { authorize, signal: signal as AbortSignal };
    expect(await upstream.models!(query)).to.deep.equal([{ id: 'gpt' }]);
  });
});

describe('the upstream responses, by the conformance suite,', () => {
  const kit = new Kit();
  afterEach(() => kit.close());

  const scenarios: Readonly<Record<UpstreamScenario, (to: ServerResponse, block: () => void) => unknown>> = {
    answer: (to) => to.writeHead(200, eventStream).end(whole),
    refusal: (to) => to.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"Slow down."}}'),
    cut: (to) => to.writeHead(200, eventStream).write(streamOf(created, delta('Hi')), () => to.destroy()),
    async endless(to, block) {
      to.setMaxListeners(0);
      to.writeHead(200, eventStream);
      const text = streamOf(delta('x'.repeat(10_000)));
      while (!to.destroyed) {
        if (to.write(text)) continue;
        const drained = once(to, 'drain').catch(() => undefined);
        const wait = setTimeout(block, 500);
        await Promise.race([drained, once(to, 'close')]);
        clearTimeout(wait);
      }
    },
  };
  const play = async (scenario: UpstreamScenario): Promise<PlayedScenario> => {
    const blocked = later();
    const closed = later();
    const baseUrl = await serveChat(kit, (response) => {
      response.once('close', () => closed.resolve());
      return scenarios[scenario](response, () => blocked.resolve());
    });
    return { baseUrl, blocked: blocked.promise, closed: closed.promise };
  };
  for (const { name, run } of upstreamChecks({ kind: responses, play })) it(name, run);
});

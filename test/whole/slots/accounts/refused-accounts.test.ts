import { expect } from 'chai';
import { ask, eventsIn, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn, requestLines } from '../../kit.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';

const json = { 'content-type': 'application/json' };
const words = 'invalid x-api-key';
const told = "The gateway's account at its provider is refused; tell its operator.";
const requests: Readonly<Record<string, object>> = {
  '/v1/messages': ask('Hello!'),
  '/v1/messages/count_tokens': ask('Hello!'),
  '/v1/chat/completions': { model: 'sonnet-5', messages: [{ role: 'user', content: 'Hello!' }] },
  '/v1/responses': { model: 'sonnet-5', input: 'Hello!' },
  '/v1/completions': { model: 'sonnet-5', prompt: 'Hello!' },
};

describe('an account that its provider refuses', () => {
  let status: number;
  let upstream: ScriptedUpstream;
  let under: GatewayUnderTest;
  beforeEach(async () => {
    status = 401;
    upstream = await scripted((_, response) =>
      response
        .writeHead(status, json)
        .end(JSON.stringify({ error: { type: 'authentication_error', message: words } })),
    );
    under = await startGateway({ slots: [slotAt(upstream.url)] });
  });
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });

  for (const [path, body] of Object.entries(requests))
    for (const stream of [false, true])
      it(`is no refusal of its caller: ${path}${stream ? ', as a stream' : ''}`, async () => {
        for (const time of ['at once', 'while it is rejected']) {
          const response = await under.post(path, { ...body, stream });
          const error = await errorIn(response);
          expect(error, time).to.include({ status: 503, code: 'no_slot_available', message: told });
          expect(response.headers.get('x-should-retry'), time).to.equal('false');
          expect(response.headers.get('retry-after'), time).to.equal(null);
        }
      });

  it('is told its operator, with the words of the provider', async () => {
    const response = await under.post('/v1/messages', ask('Hello!'));
    await response.text();
    expect(response.headers.get('x-gw-slot')).to.equal('a');
    const line = under.logged.find(({ msg }) => String(msg).includes(' answered with an error'));
    expect(line).to.include({ slot: 'a', status: 503 });
    expect(line!['msg']).to.include(words);
    expect((await requestLines(under)).at(-1)).to.include({ status: 503, code: 'no_slot_available' });
    expect(under.gateway.services.slots.list()[0]).to.include({ state: 'rejected', lastError: words });
  });

  it('leaves a 403 about the request to its caller', async () => {
    status = 403;
    expect(await errorIn(await under.post('/v1/messages', ask('Hello!')))).to.include({
      status: 403,
      message: words,
    });
  });
});

describe('the texts of failed calls', () => {
  it('name no slot to a caller, before and within a stream', async () => {
    const upstream = await scripted((_, response, { start, text }) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`${start}${text('Once')}`),
    );
    const use = { use: 'upstream-call', with: { idleTimeout: '50ms', attempts: 1 } };
    const pipeline = stages().map((stage) => ('use' in stage && stage.use === use.use ? use : stage));
    const slots = [
      slotAt(upstream.url, { id: 'secret-slot', models: ['sonnet-5'] }),
      slotAt('http://127.0.0.1:9', { id: 'other-secret-slot', models: ['haiku-5'] }),
    ];
    const under = await startGateway({ slots, pipeline });
    const within = await (await under.post('/v1/messages', ask('Hello!', { stream: true }))).text();
    const before = await errorIn(await under.post('/v1/messages', ask('Hello!', { model: 'haiku-5' })));
    under.gateway.services.slots.pause('secret-slot');
    const paused = await errorIn(await under.post('/v1/messages', ask('Hello!')));
    await under.gateway.exchanges.idle();
    await under.close();
    await upstream.close();
    expect(eventsIn(within).at(-1)).to.deep.include({
      error: {
        type: 'upstream_error',
        message: 'The upstream did not continue its answer within 50 ms.',
      },
    });
    expect(before.message).to.equal('The upstream could not be reached.');
    expect(paused.message).to.equal(
      'No slot that serves the model "sonnet-5" takes requests; tell the gateway\'s operator.',
    );
    const logged = under.logged.map(({ msg }) => msg);
    expect(logged).to.include('The upstream of slot "secret-slot" did not continue its answer within 50 ms.');
    expect(logged).to.include('Slot "other-secret-slot" could not reach its upstream (ECONNREFUSED).');
  });
});

import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { foldMessage, withExtras, type MessagesRequest } from '@gw2api/gateway/plugin';
import { eventsOf, fakeHost, messageEvents, replyOf, runStage } from '@gw2api/gateway/testing';
import remote from '#plugins/remote/index.js';
import { serveRemote, type Answerer, type Service } from './service.js';

const request: MessagesRequest = {
  model: 'm',
  system: 'Be kind.',
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'user', content: 'my secret' },
  ],
};

describe('remote, asked about a request,', () => {
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  async function run(
    answer: Answerer,
    options: Readonly<Record<string, unknown>> = {},
    more: Partial<Parameters<typeof runStage>[1]> = {},
  ) {
    const service = await serveRemote(answer);
    services.push(service);
    const host = fakeHost({ name: 'dlp', ...more?.host });
    let calls = 0;
    const sent: MessagesRequest[] = [];
    const result = await runStage(remote, {
      call: async (outgoing) => {
        calls += 1;
        sent.push(outgoing);
        return replyOf(eventsOf(...messageEvents()));
      },
      ...more,
      host,
      options: { url: service.url, ...options },
      state: { request, requestId: 'r1', format: 'chat', delivery: 'stream', ...more?.state },
    });
    await host.dispose();
    return { ...result, calls, sent, service, questions: service.questions };
  }

  it('sends what the option names, and no more', async () => {
    const { questions, sent } = await run(() => ({ verdict: 'allow' }));
    expect(questions.map(({ path }) => path)).to.deep.equal(['/check']);
    expect(questions[0]!.body).to.deep.equal({
      version: 1,
      id: 'r1',
      stage: 'dlp',
      pipeline: 'default',
      phase: 'request',
      format: 'chat',
      stream: true,
      context: {},
      state: null,
      request: { messages: request.messages },
    });
    expect(sent[0]).to.equal(request);
  });

  it('sends caller, session, headers, system and extras, where these are named', async () => {
    const { questions } = await run(
      () => ({ verdict: 'allow' }),
      { send: ['system', 'extras', 'model', 'caller', 'session', 'header:X-Team'], context: { tier: 2 } },
      {
        headers: { 'x-team': 'red', 'x-session-id': 's1', 'x-other': 'no' },
        state: {
          request: withExtras(request, { seed: 7 }),
          caller: { kind: 'key', keyId: 'k1', name: 'Jo', team: { id: 't1', name: 'red' } },
        },
      },
    );
    expect(questions[0]!.body).to.deep.include({
      context: { tier: 2 },
      request: { system: 'Be kind.', model: 'm', extras: [{ place: '', extras: { seed: 7 } }] },
      caller: { id: 'k1', name: 'Jo', team: { id: 't1', name: 'red' } },
      session: 's1',
      headers: { 'x-team': 'red' },
    });
  });

  it('signs its questions as Standard Webhooks, by each of two secrets', async () => {
    const own = `whsec_${Buffer.from('a new secret of the stage').toString('base64')}`;
    const { questions } = await run(() => ({ verdict: 'allow' }), { secret: [own, 'old'] });
    const { headers, text } = questions[0]!;
    expect(headers).to.include({ 'webhook-id': 'r1.request.0' });
    const now = Date.now;
    try {
      Date.now = () => Number(headers['webhook-timestamp']) * 1000; // that of the stage's clock
      for (const secret of [own, Buffer.from('old').toString('base64')])
        expect(new Webhook(secret).verify(text, headers as Record<string, string>)).to.have.property(
          'id',
          'r1',
        );
    } finally {
      Date.now = now;
    }
  });

  const denials = [
    [{ verdict: 'deny' }, 403, 'permission_error', 'Denied by "dlp", a rule of this gateway.'],
    [{ verdict: 'deny', status: 400, message: 'No.' }, 400, 'invalid_request_error', 'No.'],
    [{ verdict: 'deny', status: 429, message: 'Later.', retryAfter: 9 }, 429, 'rate_limit_error', 'Later.'],
  ] as const;
  for (const [reply, status, type, message] of denials)
    it(`denies it with ${status}`, async () => {
      const answer = await run(() => reply);
      expect(answer).to.include({ status, calls: 0 });
      expect(answer.body).to.deep.equal({ error: { type, code: 'stage_denied', message } });
      expect(answer.headers['retry-after']).to.equal('retryAfter' in reply ? '9' : undefined);
    });

  it('refuses it as a model would, without a call', async () => {
    const { calls, state } = await run(() => ({ verdict: 'refuse', message: 'Not that.' }));
    expect(calls).to.equal(0);
    expect(await foldMessage(state.reply.events)).to.deep.include({
      stop_reason: 'refusal',
      content: [{ type: 'text', text: 'Not that.' }],
    });
  });

  it('denies a token count that it would refuse', async () => {
    const { status } = await run(
      () => ({ verdict: 'refuse', message: 'Not that.' }),
      {},
      { state: { operation: 'count-tokens' } },
    );
    expect(status).to.equal(403);
  });

  it('changes it, and leaves all other parts the same objects', async () => {
    const { sent } = await run(() => ({
      verdict: 'change',
      patch: [{ op: 'replace', path: '/messages/1/content', value: 'my ***' }],
    }));
    expect(sent[0]!.messages.map(({ content }) => content)).to.deep.equal(['Hello', 'my ***']);
    expect(sent[0]!.messages[0]).to.equal(request.messages[0]);
  });

  it('sets usage tags', async () => {
    const { state } = await run(() => ({ verdict: 'allow', tags: { rule: 'mail' } }));
    expect(state.trace.tags).to.deep.equal({ rule: 'mail' });
  });

  it('numbers the ids of requests that a caller sends again under the same one', async () => {
    const host = fakeHost({ name: 'dlp' });
    const service = await serveRemote(() => ({ verdict: 'allow' }));
    services.push(service);
    for (let times = 0; times < 2; times += 1)
      await runStage(remote, { host, options: { url: service.url }, state: { request, requestId: 'r1' } });
    expect(service.questions.map(({ body }) => body.id)).to.deep.equal(['r1', 'r1:2']);
  });

  const big = 'x'.repeat(3 * 1_048_576);
  const failures: Readonly<Record<string, readonly [Answerer, string]>> = {
    'another status': [() => (to) => void to.writeHead(204).end(), 'answered with status 204'],
    'a redirect': [() => (to) => void to.writeHead(302, { location: '/' }).end(), 'answered with status 302'],
    'broken JSON': [() => (to) => void to.end('{"version":1,'), 'its reply is not valid JSON'],
    'another version': [() => ({ version: 2, verdict: 'allow' }), 'version: must be 1'],
    'no verdict': [() => ({}), 'verdict: must be one of allow, deny, refuse, change'],
    'an unknown field': [() => ({ verdict: 'allow', why: 1 }), 'why: '],
    'a verdict of another phase': [() => ({ verdict: 'hold' }), 'verdict: must be one of'],
    'a part that was not sent': [
      () => ({ verdict: 'change', set: { model: 'other' } }),
      'model: is not among the parts that were sent',
    ],
    'a result that is no request': [
      () => ({ verdict: 'change', set: { messages: [{ role: 'user' }] } }),
      'messages[0].content: is required',
    ],
    'a large state': [
      () => ({ verdict: 'allow', state: big.slice(0, 5000) }),
      'state: must have at most 4096',
    ],
    'half a reply': [
      () => (to) => {
        to.writeHead(200, { 'content-length': '100' }).write('{');
        to.socket?.destroySoon();
      },
      'dlp',
    ],
    'an endless reply': [() => (to) => void to.end(big), 'is longer than'],
  };
  for (const [what, [answer, message]] of Object.entries(failures))
    it(`fails for ${what}, which is never an allow`, async () => {
      const { status, body, calls, error } = await run(answer);
      expect({ status, calls }).to.deep.equal({ status: 502, calls: 0 });
      expect(body).to.have.nested.property('error.code', 'stage_failed');
      expect(String(error)).to.include('Stage "dlp" failed: ').and.include(message);
    });

  it('fails for a reply that is late', async () => {
    const { error } = await run(() => () => undefined, { timeout: '20ms' });
    expect(String(error)).to.match(/Stage "dlp" failed: http:\S+ did not answer within 0.02 s\./);
  });

  it('fails where nobody listens, and names the address', async () => {
    const { error } = await run(() => ({}), { url: 'http://127.0.0.1:1' });
    expect(String(error)).to.include('http://127.0.0.1:1 could not be reached (ECONNREFUSED)');
  });

  it('asks nobody for five seconds after five failures in a row, then one at a time', async () => {
    let nowMs = 0;
    let isWell = false;
    const host = fakeHost({ name: 'dlp' });
    const clock = { ...host.clock, monotonicMs: () => nowMs };
    const service = await serveRemote(() => ({ verdict: isWell ? 'allow' : 'maybe' }));
    services.push(service);
    const stage = fakeHost({ name: 'dlp', clock });
    const ask = async () => {
      const { status } = await runStage(remote, {
        host: stage,
        options: { url: service.url },
        state: { request },
      });
      return status;
    };
    for (let times = 0; times < 7; times += 1) expect(await ask()).to.equal(502);
    expect(service.questions).to.have.length(5);
    expect(stage.logged.map(({ message }) => message)).to.deep.equal([
      'The service of stage "dlp" has failed 5 times in a row; it is not asked for 5 s.',
    ]);
    nowMs = 5000;
    expect(await ask()).to.equal(502);
    expect(await ask()).to.equal(502);
    expect(service.questions).to.have.length(6);
    nowMs = 10_000;
    isWell = true;
    expect(await ask()).to.equal(204);
    expect(await ask()).to.equal(204);
  });

  it('asks once more where a kept connection breaks before a byte has come, and only there', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      let asked = 0;
      socket.on('data', (bytes) => {
        if (!bytes.toString().includes('"version"')) return;
        asked += 1;
        if (connections === 1 && asked === 2) return void socket.destroy();
        const body = '{"version":1,"verdict":"allow"}';
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      });
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const host = fakeHost();
    const options = { url: `http://127.0.0.1:${port}` };
    // One stage, whose client keeps its connection.
    const stage = { parts: undefined as unknown };
    const kept: typeof remote = {
      ...remote,
      setup: (given, own) => (stage.parts ??= remote.setup(given, own)),
    };
    for (let times = 0; times < 2; times += 1) {
      const { status } = await runStage(kept, { host, options, state: { request } });
      expect(status).to.equal(204);
    }
    expect(connections).to.equal(2);
    await host.dispose();
    server.close();
  });

  const wrong: Readonly<Record<string, readonly [options: object, message: string]>> = {
    'http to another machine': [{ url: 'http://dlp.example' }, 'with.url is http:// to another machine'],
    'a URL of another kind': [{ url: 'ftp://x' }, 'with.url is not the URL of an HTTP service'],
    'a password': [{ url: 'https://a:b@dlp.example' }, 'with.url has a user or a password'],
    'the header of a credential': [
      { url: 'https://dlp.example', send: ['header:Authorization'] },
      'with.send has "header:Authorization", whose value is a secret',
    ],
    'answer and events': [{ url: 'https://dlp.example', on: ['answer', 'events'] }, 'with.on has both'],
    'a long timeout': [
      { url: 'https://dlp.example', timeout: '31s' },
      'with.timeout must be from 1ms to 30s',
    ],
    'events of LiteLLM': [
      { url: 'https://dlp.example', protocol: 'litellm', on: ['events'] },
      'with.on has events, which the protocol litellm does not know',
    ],
    'LiteLLM without messages': [
      { url: 'https://dlp.example', protocol: 'litellm', send: ['model'] },
      'with.send has no messages, whose texts the protocol litellm is about; name them',
    ],
  };
  for (const [what, [options, message]] of Object.entries(wrong))
    it(`is a problem of the config for ${what}`, async () => {
      const failed = await runStage(remote, { options: { ...options }, state: { request } }).catch(String);
      expect(failed).to.include(message);
    });
});

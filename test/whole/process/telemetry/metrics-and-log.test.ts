import { connect } from 'node:net';
import { createGateway, type Gateway } from '@gw2api/gateway';
import { expect } from 'chai';
import { createLogger } from '#src/gateway/telemetry/logs.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, configOf, masterKey, slotAt, stages } from '../../harness.js';
import { startHeldUpstream } from '../../held-upstream.js';
import { TempFolders } from '../../temp-folders.js';

type Line = Readonly<Record<string, unknown>>;

describe('what is told of requests', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let gateway: Gateway;
  let url: string;
  let log: string;

  beforeEach(async () => {
    simulator = await startSimulator();
    log = '';
  });
  afterEach(async () => {
    await gateway.close();
    await simulator.close();
    await folders.remove();
  });

  /** With all that there is to log, as the lines that a process writes. */
  async function start(config: Readonly<Record<string, unknown>> = {}, level = 'trace'): Promise<void> {
    const write = (line: string) => void (log += line);
    const folder = await folders.make({
      'bad.js': `export default (options) => async (ctx, next) => { await next(); if (options.fails) throw new Error('plugin'); };`,
    });
    gateway = await createGateway(configOf({ slots: [slotAt(simulator.url)], ...config }), {
      masterKey,
      log: createLogger(level, { write }),
      baseDir: folder,
    });
    url = await gateway.listen();
  }

  function post(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': masterKey, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async function done(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    const response = await post(path, body, headers);
    await response.text();
    return response;
  }

  async function lines(): Promise<readonly Line[]> {
    await gateway.exchanges.idle();
    const all = log.split('\n').slice(0, -1);
    return all.map((line) => JSON.parse(line) as Line); // every line is an object
  }

  async function requests(): Promise<readonly Line[]> {
    return (await lines()).filter(({ msg }) => msg === 'request');
  }

  /** The samples of `GET /metrics` whose names begin like this, by name and labels. */
  async function metrics(prefix = 'gw2api_'): Promise<Readonly<Record<string, number>>> {
    await gateway.exchanges.idle();
    const answer = await fetch(`${url}/metrics`, { headers: { 'x-api-key': masterKey } });
    expect(answer.status).to.equal(200);
    const samples = samplesIn(await answer.text());
    return Object.fromEntries(Object.entries(samples).filter(([name]) => name.startsWith(prefix)));
  }

  describe('the log', () => {
    it('has one line of JSON for a request, with what it was, who asked, and what it came to', async () => {
      await start({ pipeline: stages({ without: ['web-search-tool', 'persona-inject'] }) });
      const answer = await done('/v1/chat/completions?x=1', chat('Hello!'), { 'x-request-id': 'mine-1' });
      const [line, ...more] = await requests();
      expect(more).to.deep.equal([]);
      const { time, ms, firstEventMs, tokens, upstreamRequestId, ...rest } = line!;
      expect(upstreamRequestId).to.equal(answer.headers.get('request-id'));
      expect(rest).to.deep.equal({
        level: 'info',
        msg: 'request',
        id: 'mine-1',
        client: '127.0.0.1',
        method: 'POST',
        path: '/v1/chat/completions',
        operation: 'generate',
        format: 'chat',
        status: 200,
        outcome: 'completed',
        key: 'master',
        model: 'sonnet-5',
        slot: 'a',
        attempts: 1,
        delivery: 'whole',
      });
      expect(answer.headers.get('x-request-id')).to.equal('mine-1');
      expect(Date.parse(String(time))).to.be.closeTo(Date.now(), 60_000);
      expect(ms).to.be.a('number').that.is.at.least(0);
      expect(firstEventMs).to.be.a('number').that.is.within(0, Number(ms));
      const { input, output } = tokens as Record<string, number>;
      expect([input! > 0, output! > 0]).to.deep.equal([true, true]);
    });

    it('tells what the caller was not shown of the tokens', async () => {
      await start({ pipeline: stages({ with: { 'persona-inject': { text: 'Be kind. '.repeat(50) } } }) });
      const response = await post('/v1/messages', ask('Hello!'));
      const { usage } = (await response.json()) as { usage: Record<string, number> };
      const [line] = await requests();
      const { tokens, masked } = line as unknown as Record<'tokens' | 'masked', Record<string, number>>;
      const billed = tokens['input']! + tokens['cache_read']! + tokens['cache_write']!;
      const hidden = masked['input']! + masked['cache_read']! + masked['cache_write']!;
      const shown = Object.entries(usage).filter(([name]) => /^(cache_\w+_)?input_tokens$/.test(name));
      expect(hidden).to.be.greaterThan(50);
      expect(shown.reduce((sum, [, count]) => sum + count, 0)).to.equal(billed - hidden);
    });

    it('tells the outcome: failures, refusals, and callers who leave', async () => {
      await start();
      await done('/v1/messages', ask('[[sim:error after=4]]', { stream: true }));
      await done('/v1/messages', ask('Hi'), { 'x-api-key': 'wrong' });
      await done('/v1/messages', ask('[[sim:400]]'));
      await done('/v1/nothing', {});
      const leaving = await post('/v1/messages', ask('[[sim:stall after=4]]', { stream: true }));
      await leaving.body!.cancel();
      const told = (await requests()).map(({ status, outcome, code, slot }) => [status, outcome, code, slot]);
      expect(told).to.deep.equal([
        [200, 'failed', 'overloaded_error', 'a'],
        [401, 'completed', 'invalid_api_key', undefined],
        [400, 'completed', 'invalid_request_error', 'a'],
        [404, 'completed', 'not_found', undefined],
        [200, 'abandoned', undefined, 'a'],
      ]);
    });

    it('tells of health checks only where everything is told', async () => {
      await start({}, 'info');
      await fetch(`${url}/health`);
      await done('/v1/messages', ask('Hi'));
      expect((await requests()).map(({ path }) => path)).to.deep.equal(['/v1/messages']);
    });

    it('has the cause of a failure of ours, and of one upstream, under the id of the request', async () => {
      await start({
        pipeline: [{ use: './bad.js', with: { fails: true }, when: { format: 'completions' } }, ...stages()],
        slots: [slotAt('http://127.0.0.1:9')],
      });
      await done('/v1/completions', { model: 'sonnet-5', prompt: 'Hi' }, { 'x-request-id': 'ours' });
      await done('/v1/messages', ask('Hi'), { 'x-request-id': 'theirs' });
      const told = (await lines()).filter(({ level }) => level === 'error' || level === 'warn');
      expect(told.map(({ id }) => id)).to.include.members(['theirs']);
      const theirs = told.find(({ id }) => id === 'theirs');
      expect(theirs).to.include({ code: 'upstream_unreachable', status: 502 });
      expect(String(theirs!['cause'])).to.include('ECONNREFUSED');
    });

    it('never has a key, a token, a header, a prompt or an answer in it, whatever happens', async () => {
      const secret = 'SECRET-';
      simulator.faults.push(`say text="${secret}answer" on=generate`);
      const dead = { baseUrl: 'http://127.0.0.1:9', proxy: `http://user:${secret}proxy@127.0.0.1:9` };
      const account = { kind: 'api-key', key: `${secret}upstream` };
      await start({
        slots: [
          slotAt(simulator.url, { account, headers: { 'x-extra': `${secret}header` } }),
          slotAt('', {
            id: 'dead',
            ...dead,
            account: { ...account, key: `${secret}dead` },
            models: ['haiku-5'],
          }),
        ],
      });
      const prompt = `${secret}prompt`;
      const faults = [
        '',
        '400',
        '401',
        '429',
        '500',
        '529',
        'cut',
        'error',
        'not-json after=4',
        'html',
        'reset',
        'empty',
      ];
      const headers = {
        'x-session-id': `${secret}session`,
        cookie: `c=${secret}cookie`,
        'anthropic-beta': `${secret}beta`,
      };
      for (const fault of faults)
        for (const stream of [true, false]) {
          const text = fault ? `[[sim:${fault}]] ${prompt}` : prompt;
          await done(
            '/v1/messages',
            ask(text, { stream, metadata: { user_id: `${secret}user` } }),
            headers,
          ).catch(() => undefined);
          gateway.services.slots.resume('a');
        }
      for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/completions']) {
        await done(`${path}?key=${secret}query`, `{"model": "x", ${prompt}`);
        await done(path, {
          model: 'sonnet-5',
          messages: [{ role: prompt, content: { [prompt]: prompt } }],
          input: 1,
          prompt: {},
        });
        await done(path, ask(prompt), { 'x-api-key': `sk-gw-${secret}key` });
        await done(path, ask(prompt), { 'x-api-key': '', authorization: `Bearer ${secret}bearer` });
      }
      await done('/v1/messages', ask(prompt, { model: 'haiku-5' }));
      await done('/v1/messages/count_tokens', ask(`[[sim:500]] ${prompt}`));
      await gateway.services.slots.diagnose('dead', AbortSignal.timeout(1000));
      const told = await lines();
      expect(told.length).to.be.greaterThan(faults.length * 2);
      expect(told.filter((line) => JSON.stringify(line).includes(secret))).to.deep.equal([]);
      expect(log).not.to.include(masterKey);
    });
  });

  describe('the metrics', () => {
    it('are for the master key alone', async () => {
      await start();
      for (const [key, status] of [
        ['', 401],
        ['wrong', 401],
        [masterKey, 200],
      ] as const)
        expect((await fetch(`${url}/metrics`, { headers: { 'x-api-key': key } })).status).to.equal(status);
    });

    it('are text that Prometheus reads', async () => {
      await start();
      await done('/v1/messages', ask('Hi', { stream: true }));
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${masterKey}` } });
      expect(answer.headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8');
      const samples = samplesIn(await answer.text());
      expect(samples).to.have.property('process_cpu_seconds_total');
      const labels = 'model="sonnet-5",operation="generate",slot="a"';
      const inf = `gw2api_request_seconds_bucket{format="messages",le="+Inf",${labels}}`;
      expect(samples[inf]).to.equal(1);
      expect(samples[`gw2api_request_seconds_count{format="messages",${labels}}`]).to.equal(1);
    });

    it('count streams, whole answers, refusals, failures and callers who left', async () => {
      await start();
      await done('/v1/messages', ask('Hi', { stream: true }));
      await done('/v1/messages', ask('Hi'));
      await done('/v1/responses', { model: 'sonnet-5', input: 'Hi', stream: true });
      await done('/v1/messages', ask('[[sim:error after=4]]', { stream: true }));
      await done('/v1/messages', ask('[[sim:400]]'));
      const leaving = await post('/v1/messages', ask('[[sim:stall after=4]]', { stream: true }));
      await leaving.body!.cancel();
      expect(await metrics('gw2api_requests_total')).to.deep.equal({
        [counted('messages', 'completed', 200)]: 2,
        [counted('responses', 'completed', 200)]: 1,
        [counted('messages', 'failed', 200)]: 1,
        [counted('messages', 'completed', 400)]: 1,
        [counted('messages', 'abandoned', 200)]: 1,
      });
    });

    it('count the tokens that were billed, also of an answer that its caller left', async () => {
      const usage = {
        input_tokens: 10,
        cache_read_input_tokens: 300,
        cache_creation_input_tokens: 20,
        output_tokens: 1,
      };
      const upstream = await startHeldUpstream({ usage, finalUsage: { output_tokens: 7 } });
      await start({ slots: [slotAt(upstream.url)], pipeline: stages({ without: ['usage-mask'] }) });
      const response = post('/v1/messages', ask('Hi'));
      (await upstream.next()).finish();
      await (await response).text();
      const leaving = await post('/v1/messages', ask('Hi', { stream: true }));
      await upstream.next();
      await leaving.body!.cancel();
      expect(await metrics('gw2api_tokens_total')).to.deep.equal({
        'gw2api_tokens_total{kind="input",model="sonnet-5",slot="a"}': 20,
        'gw2api_tokens_total{kind="cache_read",model="sonnet-5",slot="a"}': 600,
        'gw2api_tokens_total{kind="cache_write",model="sonnet-5",slot="a"}': 40,
        'gw2api_tokens_total{kind="output",model="sonnet-5",slot="a"}': 7 + 64 + 2,
      });
      await upstream.close();
    });

    it('show the slots as they are now', async () => {
      const upstream = await startHeldUpstream();
      await start({ slots: [slotAt(upstream.url), slotAt(upstream.url, { id: 'b' })] });
      const response = await post('/v1/messages', ask('Hi', { stream: true }));
      const answer = await upstream.next();
      gateway.services.slots.pause('b');
      const samples = samplesIn(
        await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': masterKey } })).text(),
      );
      expect(samples).to.include({
        'gw2api_slot_in_flight{slot="a"}': 1,
        'gw2api_slot_in_flight{slot="b"}': 0,
        'gw2api_slot_state{slot="a",state="ready"}': 1,
        'gw2api_slot_state{slot="b",state="ready"}': 0,
      });
      answer.finish();
      await response.text();
      expect(await metrics('gw2api_slot_in_flight')).to.include({ 'gw2api_slot_in_flight{slot="a"}': 0 });
      await upstream.close();
    });

    it('do not grow with what callers write', async () => {
      await start();
      for (let count = 0; count < 20; count += 1) {
        await done(`/v1/${count}/../nothing-${count}`, {});
        await done('/v1/messages', ask('Hi', { model: `unknown-${count}` }), { 'x-session-id': `s${count}` });
        await fetch(`${url}/v1/models/${count}`, { headers: { 'x-api-key': masterKey } });
      }
      expect(Object.keys(await metrics('gw2api_requests_total')).length).to.be.at.most(4);
    });

    it('count a request whose head is all that ever came', async () => {
      await start();
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n`,
      );
      while (gateway.exchanges.count === 0) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
      expect(await metrics('gw2api_requests_total')).to.deep.equal({
        'gw2api_requests_total{format="messages",operation="generate",outcome="abandoned",slot="",status="499"}': 1,
      });
    });
  });
});

function chat(content: string): object {
  return { model: 'sonnet-5', messages: [{ role: 'user', content }] };
}

function counted(format: string, outcome: string, status: number): string {
  const labels = { format, operation: 'generate', outcome, slot: 'a', status };
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return `gw2api_requests_total{${pairs.join(',')}}`;
}

/** The samples of a text in Prometheus' format, labels in order. Throws where it is not in that format. */
function samplesIn(text: string): Readonly<Record<string, number>> {
  const samples: Record<string, number> = {};
  const types = new Map<string, string>();
  expect(text.endsWith('\n')).to.equal(true);
  for (const line of text.split('\n').filter(Boolean)) {
    const [, about, type] = /^# (?:HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (about && type) types.set(about, type);
    else {
      const [, name, labels = '', value] =
        /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)(?: \d+)?$/.exec(line) ??
        [];
      if (!name || (Number.isNaN(Number(value)) && value !== 'Nan')) throw new Error(`not a sample: ${line}`);
      const family = name.replace(/_(bucket|sum|count)$/, '');
      if (!types.has(name) && !types.has(family)) throw new Error(`nothing is said about ${name}`);
      const sorted = labels
        .split(/,(?=[a-zA-Z_])/)
        .toSorted()
        .join();
      const key = labels ? `${name}{${sorted}}` : name;
      if (key in samples) throw new Error(`twice: ${line}`);
      samples[key] = Number(value);
    }
  }
  return samples;
}

import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { PanelClient, type Answer } from '../../console/panel-client.js';
import { ask, stages } from '../../harness.js';
import { PluginWorkshop } from '../plugins/plugin-workshop.js';
import { isolatedSuite, isRunning, stageModule, withStage } from './isolated.js';

const entry = { use: './own.mjs', isolate: true };
const pipeline = (own: object = entry) =>
  withStage(own, stages({ without: ['persona-inject', 'web-search-tool'] }));
const passes = 'return (ctx, next) => next();';

isolatedSuite('a stage in a child process', function () {
  this.timeout(30_000);
  const workshop = new PluginWorkshop();
  afterEach(() => workshop.end());

  const start = (module: string, own: object = entry, files = {}) =>
    workshop.start(pipeline(own), { 'own.mjs': module, ...files });

  /** Request that the upstream gets, and the answer. */
  const exchange = async (body: object = ask('Hi'), headers = {}, path = '/v1/messages') => {
    const answered = workshop.under.post(path, body, headers);
    const turn = await workshop.upstream.next();
    turn.finish();
    const response = await answered;
    return { sent: JSON.parse(turn.text) as Record<string, unknown>, response, text: await response.text() };
  };

  it('has a process of its own', async () => {
    await start(
      stageModule(
        `requires: ['request'],`,
        `return (ctx, next) => (ctx.set('x-pid', String(process.pid)), next());`,
      ),
    );
    const { response } = await exchange();
    const pid = Number(response.headers.get('x-pid'));
    expect(pid).to.be.above(0).and.not.equal(process.pid);
    expect(isRunning(pid)).to.equal(true);
  });

  it('changes the request, and no part that it leaves alone', async () => {
    const change = `ctx.state.request = { ...ctx.state.request, messages: [...ctx.state.request.messages, { role: 'user', content: 'and' }] };`;
    await start(
      stageModule(
        `requires: ['request'], provides: ['request'],`,
        `return (ctx, next) => { ${change} return next(); };`,
      ),
    );
    const first = {
      role: 'user',
      content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
    };
    const input = '{"n":12345678901234567890,"m":1.0}';
    const call = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}]}`;
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] };
    const body = `{"model":"sonnet-5","max_tokens":9,"messages":[${JSON.stringify(first)},${call},${JSON.stringify(result)}]}`;
    const answered = fetch(`${workshop.under.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body,
    });
    const turn = await workshop.upstream.next();
    turn.finish();
    expect((await answered).status).to.equal(200);
    expect(turn.text).to.contain(`"input":${input}`).and.contain('{"role":"user","content":"and"}');
  });

  it('keeps the extras of a Chat request', async () => {
    const change = `ctx.state.request = { ...ctx.state.request, temperature: 0.5 };`;
    const extras = `ctx.set('x-seed', String(sdk.extrasOf(ctx.state.request).seed));`;
    await start(
      stageModule(
        `requires: ['request'], provides: ['request'],`,
        `return (ctx, next) => { ${extras} ${change} return next(); };`,
      ),
    );
    const { response } = await exchange({ ...ask('Hi'), seed: 7 }, {}, '/v1/chat/completions');
    expect(response.headers.get('x-seed')).to.equal('7');
    expect(response.headers.get('x-gw-dropped')).to.contain('seed');
  });

  it('refuses a request with an answer of its own', async () => {
    const refuse = `throw new sdk.GatewayError('stage_denied', 'Not here.', { headers: { 'retry-after': '7' } });`;
    await start(stageModule(`requires: ['request'],`, `return () => { ${refuse} };`));
    const response = await workshop.under.post('/v1/messages', ask('Hi'));
    expect(response.status).to.equal(403);
    expect(response.headers.get('retry-after')).to.equal('7');
    expect(await response.json()).to.nested.include({
      'error.code': 'stage_denied',
      'error.message': 'Not here.',
    });
  });

  it('changes the events of an answer, in a reply and by an interceptor', async () => {
    const map = `sdk.mapText(reply.events, { hold: 9, find: (text, from) => { const start = text.indexOf('Hello', from); return start < 0 ? undefined : { start, end: start + 5, text: 'Bye' }; } })`;
    const intercept = `return { async intercept(request, call) { const reply = await call(request); return { ...reply, events: ${map} }; } };`;
    await start(stageModule(`requires: ['request'], intercepts: true,`, intercept));
    for (const stream of [true, false]) {
      const { text, response } = await exchange({ ...ask('Hi'), stream });
      expect(text).to.contain('Bye').and.not.contain('Hello');
      expect(response.headers.get('x-gw-slot')).to.equal('a');
    }
  });

  it('answers without a call, and holds an answer to its end', async () => {
    const held = `const held = await sdk.hold(await call(request)); return held.message.content[0].text.includes('Hello') ? sdk.textReply('Held.') : held.reply;`;
    await start(
      stageModule(
        `requires: ['request'], intercepts: true,`,
        `return { async intercept(request, call) { ${held} } };`,
      ),
    );
    expect((await exchange()).text)
      .to.contain('Held.')
      .and.not.contain('Hello');
  });

  it('sends an event twice, which comes back with its number once', async () => {
    const twice = `({ transform: (batch) => batch.flatMap((event) => event.type === 'content_block_delta' ? [event, event] : [event]) })`;
    await start(
      stageModule(
        `requires: ['request'], intercepts: true,`,
        `return { intercept: async (request, call) => { const reply = await call(request); return { ...reply, events: reply.events.through(${twice}) }; } };`,
      ),
    );
    const { text } = await exchange();
    expect(text.match(/Hello/g)).to.have.length(2);
  });

  it('leaves a reply that it returns as it came', async () => {
    await start(
      stageModule(
        `requires: ['request'], intercepts: true,`,
        `return { intercept: (request, call) => call({ ...request, temperature: 0.25 }) };`,
      ),
    );
    const { sent, text } = await exchange();
    expect(sent).to.include({ temperature: 0.25 });
    expect(text).to.contain('Hello');
  });

  it('refuses call() with through, and names hold', async () => {
    await start(
      stageModule(
        `requires: ['request'], intercepts: true,`,
        `return { intercept: (request, call) => call(request, { through: () => ({ transform: (batch) => batch }) }) };`,
      ),
    );
    const response = await workshop.under.post('/v1/messages', ask('Hi'));
    expect(response.status).to.equal(502);
    expect(await response.json()).to.nested.include({ 'error.code': 'stage_failed' });
    const line = workshop.under.logged.find(({ msg }) => String(msg).includes('failed'));
    expect(JSON.stringify(line)).to.contain('use hold(reply)');
  });

  it('gets of the state what it requires or reads, and sets what it provides', async () => {
    const seen = `const keys = ['caller', 'body', 'delivery'].map((key) => { try { return String(ctx.state[key] !== undefined); } catch (error) { return error.message; } }); ctx.set('x-seen', keys.join('; '));`;
    await start(
      stageModule(
        `requires: ['request', 'caller'], reads: ['delivery'],`,
        `return (ctx, next) => { ${seen} return next(); };`,
      ),
    );
    const { response } = await exchange();
    expect(response.headers.get('x-seen')).to.match(
      /^true; The stage reads ctx\.state\.body, which it does not declare.*; true$/,
    );
  });

  it('gets no credential of the caller', async () => {
    await start(
      stageModule(
        `requires: ['request'],`,
        `return (ctx, next) => (ctx.set('x-names', Object.keys(ctx.headers).join(' ')), next());`,
      ),
    );
    const { response } = await exchange(ask('Hi'), {
      'x-team-color': 'red',
      cookie: 'a=b',
      authorization: 'Bearer test-master-key',
    });
    const names = response.headers.get('x-names')!.split(' ');
    expect(names).to.include('x-team-color');
    expect(names)
      .not.to.include.members(['x-api-key'])
      .and.not.include('cookie')
      .and.not.include('authorization');
  });

  it('logs, counts, stores, tags and hears the outcome', async () => {
    const uses = `const counter = host.metrics.counter('own_total', 'Own.', ['kind']);
      return async (ctx, next) => {
        host.log.info({ one: 1 }, 'Seen.');
        ctx.state.log.warn({}, 'Seen in a request.');
        counter.add({ kind: 'x' }, 2);
        await host.storage.set('count', ((await host.storage.get('count')) ?? 0) + 1);
        ctx.set('x-count', String(await host.storage.get('count')));
        ctx.set('x-model', String(host.models.find('sonnet-5')?.maxTokens));
        ctx.state.trace.tag('kind', 'own');
        ctx.state.onSettled((outcome) => host.log.info({ outcome }, 'Ended.'));
        await next();
      };`;
    await start(stageModule(`requires: ['request'],`, uses));
    await exchange();
    const { response } = await exchange();
    expect(response.headers.get('x-count')).to.equal('2');
    expect(response.headers.get('x-model')).to.equal('128000');
    const { logged } = workshop.under;
    expect(logged.find(({ msg }) => msg === 'Seen.')).to.include({ stage: 'own', one: 1 });
    expect(logged.find(({ msg }) => msg === 'Seen in a request.')).to.have.property('id');
    const metrics = await (await workshop.under.get('/metrics')).text();
    expect(metrics).to.contain('own_total{kind="x"} 4');
    await eventually(() => logged.filter(({ msg }) => msg === 'Ended.').length === 2);
    expect(logged.find(({ msg }) => msg === 'Ended.')).to.include({ outcome: 'completed' });
    const { gateway, url } = workshop.under;
    await gateway.exchanges.idle();
    await gateway.services.ledger.flush();
    const { data } = await new PanelClient(url).get('/usage?by=tag&tag=kind');
    expect(data.map((sum: Answer) => [sum.group, sum.requests])).to.deep.equal([['own', 2]]);
  });

  it('is warned of a usage tag that it sets once the request is recorded', async () => {
    const tags = `return (ctx, next) => {
        ctx.state.trace.tag('early', 'own');
        ctx.state.onSettled(() => ctx.state.trace.tag('late', 'own'));
        return next();
      };`;
    await start(stageModule(`requires: ['request'],`, tags));
    const { response } = await exchange();
    const { logged, gateway, url } = workshop.under;
    await eventually(() => logged.some(({ tag }) => tag === 'late'));
    expect(logged.find(({ tag }) => tag === 'late')).to.include({
      level: 'warn',
      stage: 'own',
      id: response.headers.get('x-request-id'),
    });
    await gateway.exchanges.idle();
    await gateway.services.ledger.flush();
    const { data } = await new PanelClient(url).get('/usage?by=tag');
    expect(data.map(({ group }: Answer) => group)).to.deep.equal(['early']);
  });

  it('fails a request with 502 stage_failed, and is skipped where its entry says so', async () => {
    const module = stageModule(
      `requires: ['request'],`,
      `return () => { throw new Error('secret detail'); };`,
    );
    await start(module);
    const response = await workshop.under.post('/v1/messages', ask('Hi'));
    expect(response.status).to.equal(502);
    const text = await response.text();
    expect(text).to.contain('stage_failed').and.not.contain('secret detail');
    await start(module, { ...entry, onError: 'skip' });
    const skipped = await exchange();
    expect(skipped.response.status).to.equal(200);
    expect(skipped.response.headers.get('x-gw-skipped')).to.equal('own');
  });

  it('passes on what the stages below throw', async () => {
    await start(
      stageModule(
        `requires: ['request'],`,
        `return async (ctx, next) => { try { await next(); } catch (error) { ctx.set('x-code', error.code); throw error; } };`,
      ),
    );
    const response = await workshop.under.post('/v1/messages', { ...ask('Hi'), model: 7 });
    expect(response.status).to.equal(400);
  });

  it('has environment variables and files by name alone', async () => {
    const read = `const seen = ['./data.txt', './.env'].map((name) => { try { return fs.readFileSync(host.resolvePath(name), 'utf8'); } catch (error) { return error.code; } });
      return (ctx, next) => (ctx.set('x-env', Object.keys(process.env).sort().join(' ')), ctx.set('x-read', seen.join(' ')), next());`;
    const module = stageModule(`requires: ['request'],`, read, `import fs from 'node:fs';`);
    process.env['GW_TEST_ISOLATED'] = 'yes';
    await start(
      module,
      { ...entry, isolate: { env: ['GW_TEST_ISOLATED'], read: ['./data.txt'] } },
      { 'data.txt': 'data', '.env': 'SECRET=1' },
    );
    const { response } = await exchange();
    expect(response.headers.get('x-env')).to.equal('GW_TEST_ISOLATED');
    expect(response.headers.get('x-read')).to.equal('data ERR_ACCESS_DENIED');
  });

  it('imports the public modules of the gateway, but no raw ones', async () => {
    const doors = ['plugin/format', 'plugin/upstream', 'plugin/remote'].map(
      (door) => `import '@gw2api/gateway/${door}';`,
    );
    await start(
      stageModule(
        `requires: ['request'],`,
        passes,
        `${doors.join('')} import { Type } from 'typebox'; Type.String();`,
      ),
    );
    expect((await exchange()).response.status).to.equal(200);
  });

  it('is refused the network by a permission too, where Node has one', async function () {
    if (!process.allowedNodeEnvironmentFlags.has('--allow-net')) this.skip(); // Node 25 and later have it
    const asks = `return (ctx, next) => (ctx.set('x-net', String(process.permission.has('net'))), next());`;
    await start(stageModule(`requires: ['request'],`, asks));
    expect((await exchange()).response.headers.get('x-net')).to.equal('false');
  });

  it('runs within the command of wrap', async () => {
    await start(
      stageModule(
        `requires: ['request'],`,
        `return (ctx, next) => (ctx.set('x-wrap', String(process.env.WRAPPED)), next());`,
      ),
      {
        ...entry,
        isolate: { wrap: ['/usr/bin/env', 'WRAPPED=yes'] },
      },
    );
    expect((await exchange()).response.headers.get('x-wrap')).to.equal('yes');
  });

  it('is another process after a reload, and the one before ends', async () => {
    await start(
      stageModule(
        `requires: ['request'],`,
        `return (ctx, next) => (ctx.set('x-pid', String(process.pid)), next());`,
      ),
    );
    const { response } = await exchange();
    const pid = Number(response.headers.get('x-pid'));
    await workshop.under.gateway.reload();
    const next = Number((await exchange()).response.headers.get('x-pid'));
    expect(next).not.to.equal(pid);
    await eventually(() => !isRunning(pid));
    expect(isRunning(next)).to.equal(true);
  });

  it('calls a model of its own, at the expense of the request', async () => {
    const asks = `return async (ctx, next) => {
        const reply = await host.call({ model: 'sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'Own?' }] }, { ctx, label: 'check' });
        ctx.set('x-said', (await sdk.foldMessage(reply.events)).content[0].text);
        await next();
      };`;
    await start(stageModule(`requires: ['request', 'caller'],`, asks));
    const answered = workshop.under.post('/v1/messages', ask('Hi'));
    const own = await workshop.upstream.next();
    expect(own.text).to.contain('Own?');
    own.finish();
    (await workshop.upstream.next()).finish();
    const response = await answered;
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-said')).to.equal('Hello.');
  });

  it('goes on with a request whose caller has left, as one in the gateway does', async () => {
    const waits = `return async (ctx, next) => {
        if (!ctx.headers['x-wait']) return next();
        host.log.info({}, 'Waiting.');
        await new Promise((go) => ctx.state.signal.addEventListener('abort', () => setTimeout(go, 50)));
        try { await next(); } finally { host.log.info({}, 'Passed.'); }
      };`;
    await start(stageModule(`requires: ['request'],`, waits));
    const leaving = new AbortController();
    const { logged, url } = workshop.under;
    const asked = fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key', 'content-type': 'application/json', 'x-wait': '1' },
      body: JSON.stringify(ask('Hi')),
      signal: leaving.signal,
    }).catch(() => undefined);
    await eventually(() => logged.some(({ msg }) => msg === 'Waiting.'));
    leaving.abort();
    await asked;
    await eventually(() => logged.some(({ msg }) => msg === 'Passed.'));
    expect((await exchange()).response.status).to.equal(200);
    expect(JSON.stringify(logged)).not.to.contain('stage_failed').and.not.contain('The request has ended');
  });

  it('is passed by every request of a session alike', async () => {
    await start(stageModule(`requires: ['request'],`, passes));
    const all = await Promise.all(Array.from({ length: 20 }, () => exchange()));
    expect(all.map(({ response }) => response.status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
  });
});

import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { expect } from 'chai';
import type { Gateway } from '@gw2api/gateway';
import { liveRequests } from '#src/features/requests/extension.js';
import { ownSqlite } from '../../../state/store/stores.js';
import { aViewer, anAdmin, sessionOf, withOidc } from '../../console/console-login.js';
import { ask, masterKey, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { issueKey } from '../../kit.js';
import { PanelClient, type Answer } from '../../console/panel-client.js';
import { scripted, type Parts, type ScriptedUpstream } from '../../scripted-upstream.js';

const dayMs = 86_400_000;
const accountKey = 'k7Qm2xV9pLw4Rt8Zb1Nc';
const marker = 'the-marker-of-this-prompt';
const json = { 'content-type': 'application/json' };

type Serve = (response: ServerResponse, parts: Parts, headers: Readonly<Record<string, unknown>>) => unknown;

describe('error texts of failed requests', () => {
  let serve: Serve;
  let upstream: ScriptedUpstream;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.now();
    upstream = await scripted((request, response, parts) => serve(response, parts, request.headers));
  });
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });

  const start = async (config: object = {}, slots: readonly object[] = [slotOf('a')]): Promise<void> => {
    under = await startGateway(
      { ledger: { errorTexts: true }, slots, ...withOidc, ...config },
      {},
      () => nowMs,
    );
    panel = new PanelClient(under.url);
  };
  const slotOf = (id: string, settings: object = {}) =>
    slotAt(upstream.url, { id, account: { kind: 'api-key', key: accountKey }, ...settings });
  const send = async (fields: object = {}, headers: Readonly<Record<string, string>> = {}) => {
    const response = await under.post('/v1/messages', ask('Hello!', fields), headers);
    await response.text().catch(() => undefined); // a stream that breaks off
    await written(under.gateway);
  };
  const latest = async (): Promise<Answer> => {
    const { data } = await panel.get('/requests?limit=1');
    return panel.get(`/requests/${data[0].id}`);
  };
  const textAfter = async (answer: Serve, fields: object = {}): Promise<Answer> => {
    serve = answer;
    await send(fields);
    return (await latest()).error_text;
  };
  const says =
    (message: string, status = 400): Serve =>
    (response) =>
      response
        .writeHead(status, json)
        .end(JSON.stringify({ error: { type: 'invalid_request_error', message } }));

  it('are the words of the upstream, whatever it answers', async () => {
    await start();
    const page = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
    const cases: readonly (readonly [string, Serve])[] = [
      [
        'prompt is too long: 212345 tokens > 200000 maximum',
        says('prompt is too long: 212345 tokens > 200000 maximum'),
      ],
      ['The upstream answered 400: 502 Bad Gateway.', (response) => response.writeHead(400).end(page)],
      [
        'The upstream answered 400: no such thing.',
        (response) => response.writeHead(400).end('no such\n thing'),
      ],
      ['The upstream answered 400.', (response) => response.writeHead(400).end()],
      [
        'not now',
        (response, { start: begin, text }) =>
          events(response).end(`${begin}${text('Once')}${errorEvent('not now')}`),
      ],
      ['at once', (response, { start: begin }) => events(response).end(`${begin}${errorEvent('at once')}`)],
    ];
    for (const [text, answer] of cases) {
      for (const stream of [true, false]) {
        under.gateway.services.slots.resume('a');
        expect(await textAfter(answer, { stream }), text).to.deep.include({ state: 'kept', text });
      }
    }
  });

  it('are the words of the gateway where the upstream has none', async () => {
    await start({}, [slotOf('a', { models: ['sonnet-*'] })]);
    for (const [text, answer] of [
      [
        /^The upstream ended its answer before it was complete\.$/,
        (response, { start: begin, text: say }) =>
          events(response).write(`${begin}${say('Once')}`, () => response.destroy()),
      ],
      [
        /^The upstream of slot "a" answered with .*; is its baseUrl right\?$/,
        (response) => response.end('<html></html>'),
      ],
    ] as readonly (readonly [RegExp, Serve])[]) {
      under.gateway.services.slots.resume('a');
      expect((await textAfter(answer)).text).to.match(text);
    }
    await send({ messages: 'none' });
    expect((await latest()).error_text.text).to.include('messages');
    await send({ model: 'no-such-model' });
    const { text, calls } = (await latest()).error_text;
    expect([text, calls]).to.deep.equal([
      'No slot serves the model "no-such-model"; GET /v1/models lists the available ones.',
      [],
    ]);
  });

  it('say that an upstream cannot be reached, or is silent', async () => {
    const timeouts = { headersTimeout: '50ms', firstTokenTimeout: '50ms' };
    await start({ pipeline: pipelineWith(timeouts) }, [slotAt('http://127.0.0.1:1', { id: 'gone' })]);
    await send();
    expect((await latest()).error_text.text).to.equal(
      'Slot "gone" could not reach its upstream (ECONNREFUSED).',
    );
    await under.close();
    await start({ pipeline: pipelineWith(timeouts) });
    const { text } = await textAfter(() => undefined);
    expect(text).to.match(/^The upstream of slot "a" sent no content within 50 ms/);
  });

  it('are of each upstream call that has failed, beside that of the answer', async () => {
    await start({ pipeline: pipelineWith({ attempts: 2 }) }, [
      slotOf('a'),
      slotOf('b', { account: { kind: 'api-key', key: `${accountKey}-b` } }),
    ]);
    const seen = new Set<unknown>();
    const { text, calls } = await textAfter((response, _, { 'x-api-key': key }) => {
      seen.add(key);
      says(`failed with ${seen.size === 1 ? 'one' : 'other'} and ${String(key)}`, 529)(
        response,
        {} as Parts,
        {},
      );
    });
    expect(calls).to.deep.equal([
      { call: 1, text: 'failed with one and ***' },
      { call: 2, text: 'failed with other and ***' },
    ]);
    expect(text).to.equal('failed with other and ***');
  });

  it('are not of requests that have not failed, those with a failed call among them', async () => {
    await start({}, [slotOf('a'), slotOf('b', { account: { kind: 'api-key', key: `${accountKey}-b` } })]);
    let calls = 0;
    const text = await textAfter((response, parts) => {
      calls += 1;
      if (calls === 1) says(marker, 529)(response, parts, {});
      else events(response).end(`${parts.start}${parts.text('Hi')}${parts.end}${parts.stop}`);
    });
    expect(text).to.equal(null);
    expect((await latest()).calls).to.have.length(2);
  });

  it('have no credential of the caller, the slot or anybody else, at any place', async () => {
    const headers = { 'x-portkey-key': 'pk7header9secret1value' };
    const proxyKey = 'q9url8secret7value';
    await start({}, [slotOf('a', { headers, baseUrl: `${upstream.url}?code=${proxyKey}` })]);
    const caller = await issueKey(under, 'f00dcafe1234');
    const secrets = [
      accountKey,
      caller,
      headers['x-portkey-key'],
      proxyKey,
      'sk-ant-api03-AnotherOne123456',
      masterKey,
    ];
    for (const secret of secrets)
      for (const at of [0, 100, 270, 285, 292, 299, 300]) {
        serve = says(
          `${'some words '.repeat(30).slice(0, at)} ${secret} ${encodeURIComponent(secret)} and more`,
        );
        await send({}, { 'x-api-key': secret === masterKey ? masterKey : caller });
        const { text } = (await latest()).error_text;
        expect(text.length).to.be.within(Math.min(at, 8), 300);
        for (let from = 0; from + 8 <= secret.length; from += 1)
          expect(text, `${secret} at ${at}`).to.not.include(secret.slice(from, from + 8));
      }
    const page = `<title>${'some words '.repeat(17)}${accountKey}</title>`;
    const { text } = await textAfter((response) => response.writeHead(400).end(page));
    expect(text).to.not.include(accountKey.slice(0, 6));
  });

  it('have no credential of the slot where the caller sends more cookies than secrets are searched for', async () => {
    await start();
    serve = says(`who is ${accountKey}?`);
    const cookie = Array.from({ length: 300 }, (_, nth) => `c=value-${nth}`).join('; ');
    await send({}, { cookie });
    expect((await latest()).error_text.text).to.equal('who is ***?');
  });

  it('have no credential of a slot whose answer breaks off after another slot was called', async () => {
    const other = { kind: 'api-key', key: 'z3other5KeyOf7SlotB9' };
    await start({}, [slotOf('a', { maxConcurrent: 1 }), slotOf('b', { account: other, maxConcurrent: 1 })]);
    let breakOff: (() => void) | undefined;
    serve = (response, { start: begin, text: say, end, stop }, { 'x-api-key': key }) => {
      events(response);
      if (breakOff) response.end(`${begin}${say('Hi')}${end}${stop}`, breakOff);
      else breakOff = () => response.end(`${begin}${say('Once')}${errorEvent(`who is ${String(key)}?`)}`);
    };
    await (await under.post('/v1/chat/completions', ask('Hello!', { n: 2 }))).text();
    await written(under.gateway);
    expect((await latest()).error_text.text).to.equal('who is ***?');
  });

  it('are in the warnings of the log without credentials, too', async () => {
    await start();
    const caller = await issueKey(under, 'f00dcafe1234');
    serve = says(`no ${accountKey}, ${encodeURIComponent(caller)} or Bearer abcdef123456 here`, 500);
    await send({}, { 'x-api-key': caller });
    const warned = under.logged.filter(({ msg }) => String(msg).includes(' answered with an error'));
    expect(warned).to.have.length(1);
    expect(warned[0]!['msg']).to.match(/: no \*\*\*, \*\*\* or Bearer \*\*\* here$/);
  });

  it('have none of the secrets of a slot that a reload has replaced meanwhile', async () => {
    await start({}, [slotOf('a', { models: ['haiku-*'] })]);
    const account = { kind: 'api-key', key: accountKey };
    await panel.ask('POST', '/slots', { id: 'c', upstream: 'messages', baseUrl: upstream.url, account });
    serve = async (response, parts) => {
      await panel.ask('PATCH', '/slots/c', { account: { kind: 'api-key', key: 'n3wK3yOfTheSlot' } });
      says(`who is ${accountKey}?`)(response, parts, {});
    };
    await send();
    expect((await latest()).error_text.text).to.equal('who is ***?');
  });

  it('are not kept by default, anywhere', async () => {
    for (const isOn of [false, true]) {
      const { where, remove } = await ownSqlite();
      const folder = path.dirname(where.file);
      await start({ store: `sqlite:${where.file}`, ledger: isOn ? { errorTexts: true } : {} });
      const report = await textAfter(says(marker));
      if (!isOn) expect(report).to.deep.equal({ state: 'off', text: null, calls: [], until: null });
      await under.gateway.close();
      const bytes = await Promise.all(
        (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'latin1')),
      );
      expect(bytes.join('').includes(marker)).to.equal(isOn);
      expect(JSON.stringify(under.logged)).to.not.include(marker);
      await remove();
    }
  });

  it('are in the state of a slot while it lasts, and never in its history', async () => {
    for (const isOn of [false, true]) {
      await start({ ledger: { errorTexts: isOn } });
      await textAfter(says(`${marker} of sk-ant-api03-AnotherOne123456 and ${accountKey}`, 529));
      const words = `${marker} of *** and ***`;
      const [slot] = (await panel.get('/slots')).data;
      expect([slot.last_error, slot.cooling_models[0].cause.message]).to.deep.equal([words, words]);
      const history = await panel.get('/slots/a/history');
      expect(history.data[0]).to.include({ status: 529, code: 'invalid_request_error' });
      expect(JSON.stringify(history)).not.to.contain(marker);
      if (!isOn) await under.close();
    }
  });

  it('are gone after seven days, or with their rows where these go before that', async () => {
    for (const keepDays of [90, 3]) {
      nowMs = Date.UTC(2026, 5, 1);
      await start({ ledger: { errorTexts: true, keepDays } });
      const days = Math.min(7, keepDays);
      const { text, until } = await textAfter(says('no'));
      expect([text, until]).to.deep.equal(['no', new Date(nowMs + days * dayMs).toISOString()]);
      nowMs += days * dayMs - 1;
      expect((await latest()).error_text.state).to.equal('kept');
      nowMs += 1;
      expect((await latest()).error_text).to.deep.equal({
        state: 'expired',
        text: null,
        calls: [],
        until: null,
      });
      const csv = await panel.fetch('GET', '/requests?as=csv&error_texts=1');
      expect((await csv.text()).split('\r\n')[1]).to.match(/,$/);
      await under.close();
    }
    await start();
  });

  it('are for admins only', async () => {
    await start();
    await textAfter(says(marker));
    const [row] = (await panel.get('/requests?limit=1')).data;
    const paths = [
      '/requests',
      `/requests/${row.id}`,
      '/requests?as=csv',
      '/overview',
      '/usage?from=2026-01-01',
    ];
    const viewer = new PanelClient(under.url, await sessionOf(under, aViewer));
    for (const each of paths)
      expect(await (await viewer.fetch('GET', each)).text(), each).to.not.include(marker);
    expect(await viewer.get(`/requests/${row.id}`)).to.not.have.property('error_text');
    for (const form of ['json', 'csv']) {
      const refused = await viewer.fetch('GET', `/requests?as=${form}&error_texts=1`);
      expect([refused.status, ((await refused.json()) as Answer).error.code]).to.deep.equal([
        403,
        'forbidden',
      ]);
    }
    const admin = new PanelClient(under.url, await sessionOf(under, anAdmin));
    expect((await admin.get(`/requests/${row.id}`)).error_text.text).to.equal(marker);
    for (const each of [
      '/requests',
      '/requests?as=csv',
      '/requests?error_texts=0',
      '/requests?error_texts=false',
    ])
      expect(await (await admin.fetch('GET', each)).text(), each).to.not.include(marker);
  });

  it('are in an export that asks for them, which is an entry of the audit log', async () => {
    await start();
    await textAfter(says(`=${marker}, "quoted"`));
    serve = (response, parts) =>
      events(response).end(`${parts.start}${parts.text('Hi')}${parts.end}${parts.stop}`);
    await send();
    const listed = await panel.get('/requests?error_texts=1&failed=true');
    expect(listed.data.map(({ error_text: text }: Answer) => text)).to.deep.equal([`=${marker}, "quoted"`]);
    const csv = await (await panel.fetch('GET', '/requests?as=csv&error_texts=1')).text();
    const [names, answered, failed] = csv.split('\r\n');
    expect(names).to.match(/,error_text$/);
    expect(answered).to.match(/,$/);
    expect(failed).to.include(`"'=${marker}, ""quoted"""`);
    const viewer = new PanelClient(under.url, await sessionOf(under, aViewer));
    await viewer.fetch('GET', '/requests?error_texts=1');
    await latest();
    const { entries } = await under.gateway.services.store.audit.page({}, { limit: 10 });
    expect(
      entries
        .map(({ actor, action, outcome, after }) => [actor.name, action, outcome, after ?? null])
        .toReversed(),
    ).to.deep.equal([
      ['master', 'request.export_texts', 'done', { query: { failed: true, limit: 50 } }],
      ['master', 'request.export_texts', 'done', { query: { limit: 10_000 } }],
      [aViewer.name, 'request.export_texts', 'refused', null],
    ]);
    expect(JSON.stringify([entries, under.logged])).to.not.include(marker);
  });

  it('are not in the live feed, the metrics or the log', async () => {
    await start();
    const rows: unknown[] = [];
    const feed = await under.gateway.use(liveRequests);
    feed.subscribe((row) => rows.push(row));
    await textAfter(says(marker));
    const metrics = await (await under.get('/metrics')).text();
    expect(rows).to.have.length(1);
    expect(metrics).to.include('gw2api_requests_total');
    expect(JSON.stringify([rows, under.logged, metrics])).to.not.include(marker);
  });

  it('are kept of what the playground sends, too', async () => {
    await start();
    serve = says('no');
    const response = await panel.fetch('POST', '/playground', {
      post: '/v1/messages',
      body: ask('Hello!'),
      headers: {},
      as: 'master',
    });
    expect(await response.text()).to.include('event: done');
    await written(under.gateway);
    expect((await latest()).error_text.text).to.equal('no');
  });
});

function events(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function errorEvent(message: string): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })}\n\n`;
}

async function written({ exchanges, services }: Gateway): Promise<void> {
  await exchanges.idle();
  await services.ledger.flush();
}

function pipelineWith(timeouts: object): readonly object[] {
  return stages({ with: { 'upstream-call': timeouts } });
}

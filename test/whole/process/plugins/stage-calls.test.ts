import { expect } from 'chai';
import { ask, slotAt, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, issueKey, only } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { TempFolders } from '../../temp-folders.js';

interface Row {
  readonly id: string;
  readonly label: string | null;
  readonly parent: string | null;
  readonly request_id: string;
  readonly key: { readonly id: string } | null;
  readonly slot: string;
  readonly model: string;
  readonly status: number;
  readonly code: string | null;
  readonly attempts: number;
  readonly billed: Readonly<Record<string, number>>;
}

describe('a stage that calls a model by host.call', () => {
  const folders = new TempFolders();
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await folders.remove();
  });

  const guard = `const { message } = await hold(await host.call(
    { model: 'haiku-5', max_tokens: 10, messages: [{ role: 'user', content: 'Is it harmless?' }] },
    { ctx, label: 'guard' },
  ));
  ctx.set('x-said', message.content[0].text);`;

  /** A pair with a stage above slot-pick that runs this code; `config` and slots as for `startPair`. */
  async function start(code: string, config: object = {}, slots: readonly object[] = [{}]): Promise<Pair> {
    const text = `
      import { definePlugin, hold } from '@gw2api/gateway/plugin';
      export default definePlugin({
        name: 'caller', requires: ['request', 'caller'],
        setup: (_, host) => async (ctx, next) => { ${code}; await next(); },
      });`;
    const folder = await folders.make({ 'caller.mjs': text });
    const own = { use: `${folder}/caller.mjs` };
    const pipeline = stages().flatMap((each) =>
      'use' in each && each.use === 'slot-pick' ? [own, each] : [each],
    );
    pair = await startPair({ pipeline, ...config }, {}, (url) =>
      slots.map((settings) => slotAt(url, settings)),
    );
    return pair;
  }

  async function rowsOf({ gateway, url }: Pair, query = ''): Promise<readonly Row[]> {
    await gateway.exchanges.idle();
    await gateway.services.openCalls.idle();
    await gateway.services.ledger.flush();
    const panel = new PanelClient(url);
    const { data } = (await panel.ask('GET', `/requests${query}`)) as { data: readonly Row[] };
    return data;
  }

  it('gets the answer, and a row of its own that names the request as its parent', async () => {
    const under = await start(guard);
    const response = await under.post('/v1/messages', ask('Hi'));
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-said')).to.be.a('string').that.is.not.empty;
    expect(response.headers.get('x-gw-attempts')).to.equal('1');
    await response.text();
    const rows = await rowsOf(under);
    expect(rows.map(({ label }) => label).toSorted()).to.deep.equal(['guard', null].toSorted());
    const call = rows.find(({ label }) => label === 'guard')!;
    const request = rows.find(({ label }) => label === null)!;
    expect(call).to.include({ parent: request.id, model: 'haiku-5', status: 200, attempts: 1 });
    expect(call.request_id).to.equal(request.request_id);
    expect(request.parent).to.equal(null);
    expect(callsTo(under.simulator).map(({ body }) => (body as { model: string }).model)).to.have.length(2);
    expect(await rowsOf(under, `?parent=${request.id}`)).to.deep.equal([call]);
    expect(await rowsOf(under, '?label=guard')).to.deep.equal([call]);
  });

  it('moves to another slot after a failure', async () => {
    const under = await start(guard, {}, [
      {},
      { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' } },
    ]);
    under.simulator.faults.push(only('a', '529'));
    const response = await under.post('/v1/messages', ask('Hi'));
    await response.text();
    expect(response.status).to.equal(200);
    const [call] = await rowsOf(under, '?label=guard');
    expect(call).to.include({ slot: 'b', attempts: 2, status: 200 });
  });

  it('counts in the limits of the caller', async () => {
    const under = await start(guard);
    const key = await issueKey(under, 'limited', { requestsPerMinute: 3, maxConcurrent: 1 });
    const statuses = [];
    for (let sent = 0; sent < 2; sent += 1) {
      const response = await under.post('/v1/messages', ask('Hi'), { 'x-api-key': key });
      statuses.push([response.status, response.headers.get('x-gw-slot')]);
      await response.text();
    }
    expect(statuses).to.deep.equal([
      [200, 'a'],
      [429, null],
    ]);
    const rows = await rowsOf(under);
    expect(
      rows.map(({ label, status, code, key: by }) => [label, status, code, by?.id]).toSorted(),
    ).to.deep.equal(
      [
        ['guard', 200, null, 'limited'],
        ['guard', 429, 'rate_limited', 'limited'],
        [null, 200, null, 'limited'],
        [null, 429, 'rate_limited', 'limited'],
      ].toSorted(),
    );
  });
});

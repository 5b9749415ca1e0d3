import { on, once } from 'node:events';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { eventually } from '../../eventually.js';
import {
  ask,
  configOf,
  masterKey,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../held-upstream.js';
import { TempFolders, writeIn } from '../temp-folders.js';
import { errorIn, lastCall } from '../kit.js';
import { PanelClient } from '../console/panel-client.js';

const persona = (text: string) => ({ use: 'persona-inject', with: { text } });

/** A pipeline whose requests show by their system prompt that they have passed it. */
const named = (name: string, settings: object = {}) => ({
  name,
  changes: [{ replace: 'persona-inject', by: persona(`I am ${name}.`) }],
  ...settings,
});

describe('named pipelines of a gateway', () => {
  const folders = new TempFolders();
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
  });
  after(() => folders.remove());

  async function start(pipelines: readonly object[], settings: object = {}) {
    pair = await startPair({ pipelines, ...settings });
    const panel = new PanelClient(pair.url);
    const issue = (body: object): Promise<{ id: string; key: string }> => panel.ask('POST', '/keys', body);
    return { pair, panel, issue };
  }

  /** System prompt that goes upstream for a caller; of a refused one the status. */
  async function systemFor(
    key: string,
    headers: Readonly<Record<string, string>> = {},
    path = '/v1/messages',
  ) {
    const answer = await pair!.post(path, ask('Hi'), { 'x-api-key': key, ...headers });
    await answer.text();
    if (answer.status !== 200) return answer.status;
    const { system } = lastCall(pair!.simulator) as { system?: readonly { text: string }[] | string };
    return JSON.stringify(system ?? '');
  }

  it('are chosen by the key, else by its team, else by the first condition that holds', async () => {
    const { panel, issue } = await start([
      named('red'),
      named('blue', { when: { header: { 'x-way': 'blue' } } }),
      named('green', { when: { header: { 'x-way': '*' } } }),
    ]);
    const team = (await panel.ask('POST', '/teams', { name: 'reds', pipeline: 'red' })) as { id: string };
    const ofTeam = await issue({ name: 'a', team: team.id });
    const ofKey = await issue({ name: 'b', team: team.id, pipeline: 'blue' });
    const back = await issue({ name: 'c', team: team.id, pipeline: 'default' });
    const free = await issue({ name: 'd' });
    expect(await systemFor(ofTeam.key, { 'x-way': 'green' })).to.include('I am red.');
    expect(await systemFor(ofKey.key)).to.include('I am blue.');
    expect(await systemFor(back.key)).not.to.match(/I am/);
    expect(await systemFor(free.key)).not.to.match(/I am/);
    expect(await systemFor(free.key, { 'x-way': 'blue' })).to.include('I am blue.');
    expect(await systemFor(free.key, { 'x-way': 'x' })).to.include('I am green.');
  });

  it('take requests by their path and team', async () => {
    const { panel, issue } = await start([
      named('counted', { when: { path: '/messages', team: 'by-name' } }),
      named('chatty', { when: { path: '/chat/*' } }),
    ]);
    const team = (await panel.ask('POST', '/teams', { name: 'by-name' })) as { id: string };
    const member = await issue({ name: 'a', team: team.id });
    expect(await systemFor(member.key)).to.include('I am counted.');
    expect(await systemFor(masterKey)).not.to.match(/I am/);
    expect(await systemFor(masterKey, {}, '/v1/chat/completions')).to.include('I am chatty.');
  });

  it('take the responses of a WebSocket', async () => {
    const { pair: gateway, issue } = await start([named('red')]);
    const { key } = await issue({ name: 'a', pipeline: 'red' });
    const url = `${gateway.url.replace('http', 'ws')}/v1/responses`;
    const socket = new WebSocket(url, { headers: { 'x-api-key': key } });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'response.create', model: 'sonnet-5', input: 'Hi' }));
    for await (const [data] of on(socket, 'message')) if (String(data).includes('response.completed')) break;
    expect(JSON.stringify(lastCall(gateway.simulator))).to.include('I am red.');
    socket.close();
    await once(socket, 'close');
  });

  it('take callers by the claims of their tokens', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const folder = await folders.make({
      'jwks.json': { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] },
    });
    const token = { issuer: 'https://issuer.example', audience: 'gw2api' };
    const auth = { use: 'jwt-auth', with: { jwks: `${folder}/jwks.json`, ...token } };
    await start([named('red', { when: { claim: { groups: ['sales-*'] } } })], {
      pipeline: [auth, ...stages({ without: ['auth'] })],
    });
    const tokenOf = (groups: unknown) =>
      new SignJWT({ iss: token.issuer, aud: token.audience, sub: 'ann', groups })
        .setExpirationTime('10m')
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .sign(privateKey);
    const systemOf = async (groups: unknown) =>
      systemFor('', { 'x-api-key': '', authorization: `Bearer ${await tokenOf(groups)}` });
    expect(await systemOf(['ops', 'sales-eu'])).to.include('I am red.');
    expect(await systemOf('sales-us')).to.include('I am red.');
    expect(await systemOf(['ops'])).not.to.match(/I am/);
  });

  it('name their own stages in the trace, and share the others', async () => {
    const { pair: gateway, issue } = await start([named('red')]);
    const { key } = await issue({ name: 'a', pipeline: 'red' });
    await systemFor(key);
    const metrics = await (await gateway.get('/metrics')).text();
    expect(metrics).to.match(/stage="red\/persona-inject"/);
    expect(metrics)
      .to.match(/stage="max-tokens"/)
      .and.not.match(/stage="red\/max-tokens"/);
  });

  it('are in the ledger, with default where none was chosen', async () => {
    const { panel, issue } = await start([named('red')]);
    const { key } = await issue({ name: 'a', pipeline: 'red' });
    await systemFor(key);
    await systemFor(masterKey);
    await eventually(async () => {
      const rows: { data: { pipeline: string }[] } = await panel.get('/requests');
      return (
        rows.data
          .map(({ pipeline }) => pipeline)
          .toSorted()
          .join() === 'default,red'
      );
    });
  });

  it('have limits of their own', async () => {
    const { issue } = await start([
      { name: 'red', changes: [{ set: 'body-limit', with: { limit: '1kb' } }] },
    ]);
    const { key } = await issue({ name: 'a', pipeline: 'red' });
    const large = ask('x'.repeat(2000));
    const refused = await pair!.post('/v1/messages', large, { 'x-api-key': key });
    expect([refused.status, (await errorIn(refused)).code]).to.deep.equal([413, 'body_too_large']);
    expect((await pair!.post('/v1/messages', large)).status).to.equal(200);
    const health = (await (await pair!.get('/health')).json()) as { limits: { max_body_bytes: number } };
    expect(health.limits.max_body_bytes).to.be.above(1024);
  });

  it('are shown with their marks', async () => {
    const { pair: gateway, panel } = await start([
      { name: 'red', changes: [{ remove: 'max-tokens' }, { set: 'cache-ttl', with: { ttl: '5m' } }] },
    ]);
    const shown = (await (await gateway.get('/admin/pipeline')).json()) as {
      data: { name: string }[];
      pipelines: { name: string; stages: { name: string; mark: string; options: object }[] }[];
    };
    expect(shown.data).to.have.lengthOf(stages().length);
    const [red] = shown.pipelines;
    expect(
      red!.stages.filter(({ mark }) => mark !== 'same').map(({ name, mark }) => [name, mark]),
    ).to.deep.equal([
      ['max-tokens', 'removed'],
      ['red/cache-ttl', 'changed'],
    ]);
    const { pipelines } = await panel.get('/pipeline');
    const [named] = pipelines as readonly { stages: { name: string; mark: string; fields: object[] }[] }[];
    const changed = named!.stages.find(({ name }) => name === 'red/cache-ttl');
    expect(changed!.mark).to.equal('changed');
    expect(changed!.fields).to.deep.include.members([
      { ...(changed!.fields[0] as object), path: 'ttl', value: '5m', changed: true },
    ]);
  });
});

describe('a config that loses a pipeline', () => {
  const folders = new TempFolders();
  let upstream: HeldUpstream;
  let folder = '';
  let under: GatewayUnderTest | undefined;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
    folder = await folders.make({});
  });
  afterEach(async () => {
    await under?.close();
    under = undefined;
    await upstream.close();
    await folders.remove();
  });

  async function write(pipelines: readonly object[]): Promise<string> {
    const store = `sqlite:${folder}/gateway.db`;
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(upstream.url)], store, pipelines }));
    return `${folder}/gateway.yaml`;
  }

  it('is refused by a reload while keys or teams name it', async () => {
    under = await startGateway(await write([named('red'), named('blue')]));
    const panel = new PanelClient(under.url);
    const key = await panel.ask('POST', '/keys', { name: 'a', pipeline: 'red' });
    await write([named('blue')]);
    const refused = await under.post('/admin/reload', {});
    expect(refused.status).to.equal(409);
    const { error } = (await refused.json()) as { error: { details: object; message: string } };
    expect(error.message).to.include('lacks pipelines that keys or teams name: the key "a" (red)');
    expect(error.details).to.deep.equal({ holders: [{ kind: 'key', id: key.id, name: 'a' }] });
    await write([named('red')]);
    expect((await under.post('/admin/reload', {})).status).to.equal(200);
  });

  it('is told by the preview of a reload, and refused for a canary', async () => {
    under = await startGateway(await write([named('red')]));
    const panel = new PanelClient(under.url);
    await panel.ask('POST', '/teams', { name: 'reds', pipeline: 'red' });
    await write([]);
    const preview: { problems: string[] } = await panel.get('/reload');
    expect(preview.problems).to.have.lengthOf(1);
    expect(preview.problems[0]).to.include('lacks pipelines that keys or teams name: the team "reds" (red)');
    const refused = await under.post('/admin/reload?canary=50', {});
    expect(refused.status).to.equal(409);
    expect((await errorIn(refused)).message).to.include('the team "reds" (red)');
    await write([named('red')]);
    const good: { problems: string[] } = await panel.get('/reload');
    expect(good.problems).to.deep.equal([]);
  });

  it('is tried by a canary as any other, whose requests pass the new list of their pipeline', async () => {
    const when = { header: { 'x-team': 'red' } };
    under = await startGateway(await write([named('red', { when })]));
    const blue = { name: 'red', when, changes: [{ replace: 'persona-inject', by: persona('I am new.') }] };
    await write([blue]);
    expect((await under.post('/admin/reload?canary=50', {})).status).to.equal(200);
    const texts: string[] = [];
    for (let session = 0; session < 24; session += 1) {
      const headers = { 'x-team': 'red', 'x-session-id': `s${session}` };
      const asked = under.post('/v1/messages', ask('Hi'), headers);
      const held = await upstream.next();
      texts.push(held.text);
      held.finish();
      expect((await asked).status).to.equal(200);
    }
    const isNew = texts.map((text) => text.includes('I am new.'));
    expect(isNew).to.include(true).and.include(false);
    expect(texts.every((text, at) => isNew[at] || text.includes('I am red.'))).to.equal(true);
  });

  it('lets streams of both pipelines end as they began', async () => {
    under = await startGateway(await write([named('red', { when: { header: { 'x-team': 'red' } } })]));
    const stream = { ...ask('Hi'), stream: true };
    const opened = await Promise.all(
      [{}, { 'x-team': 'red' }].map(async (headers) => {
        const answer = under!.post('/v1/messages', stream, headers);
        const held = await upstream.next();
        return { answer: await answer, held };
      }),
    );
    await write([]);
    expect((await under.post('/admin/reload', {})).status).to.equal(200);
    for (const { held } of opened) {
      held.say('at the end');
      held.finish();
    }
    for (const { answer } of opened)
      expect(await answer.text())
        .to.include('at the end')
        .and.include('message_stop');
    const asked = under.post('/v1/messages', ask('Hi'), { 'x-team': 'red' });
    const next = await upstream.next();
    expect(next.text).not.to.include('I am red.');
    next.finish();
    expect((await asked).status).to.equal(200);
  });

  it('refuses the requests of such keys after a start, of every kind', async () => {
    under = await startGateway(await write([named('red')]));
    const panel = new PanelClient(under.url);
    const { key } = await panel.ask('POST', '/keys', { name: 'a', pipeline: 'red' });
    await under.close();
    under = await startGateway(await write([]));
    const asked = await under.post('/v1/messages', ask('Hi'), { 'x-api-key': key });
    expect([asked.status, (await errorIn(asked)).code]).to.deep.equal([403, 'forbidden']);
    expect((await under.get('/v1/models', { 'x-api-key': key })).status).to.equal(403);
    expect((await under.get('/v1/models')).status).to.equal(200);
  });
});

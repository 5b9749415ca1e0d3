import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Recording } from '#plugins/shared/recordings.js';
import { fakeHost } from '@gw2api/gateway/testing';
import { openGateway } from '#src/features/open.js';
import { check } from '#src/cli/check.js';
import { DryGateway } from '#src/features/dry-run/dry-gateway.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { createCipher } from '#src/state/store/credential-cipher.js';
import { dialects, formatNames } from '../../formats/dialects.js';
import { configOf, slotAt, stages, startPair, type Pair } from '../../harness.js';
import { TempFolders } from '../../temp-folders.js';
import { recordedIn } from '../../../plugins/shared/recorded.js';

const secretKey = 'a key of tests';

describe('record', () => {
  const folders = new TempFolders();
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await folders.remove();
  });

  /** A gateway that records, and its folder. */
  async function recording(options: object = {}): Promise<{ readonly pair: Pair; readonly folder: string }> {
    const folder = await folders.make({});
    const [auth, limit, ...rest] = stages();
    const pipeline = [auth, limit, { use: 'record', with: { folder, ...options } }, ...rest];
    pair = await startPair({ pipeline }, {}, undefined, { secretKey });
    return { pair, folder };
  }

  /** What was recorded, once the gateway has closed. */
  async function closed(folder: string): Promise<readonly Recording[]> {
    await pair?.close();
    pair = undefined;
    return recordedIn(folder, createCipher(secretKey));
  }

  for (const format of formatNames)
    it(`keeps requests as they came, and answers by option: ${format}`, async () => {
      const { pair, folder } = await recording({ answers: true });
      const { path, request } = dialects[format];
      const bodies = [false, true].map((stream) => ({ ...request('Hello!'), stream }));
      for (const body of bodies) await (await pair.post(path, body, { 'x-session-id': 's' })).text();
      const recorded = await closed(folder);
      expect(recorded.map(({ body }) => body)).to.deep.equal(bodies);
      for (const { url, format: name, headers, caller, outcome, answer } of recorded) {
        expect([url, name, caller.name, outcome]).to.deep.equal([path, format, 'master', 'completed']);
        expect(headers).to.include({ 'x-session-id': 's' }).and.not.to.have.property('x-api-key');
        expect(answer!.map(([, event]) => event).join('')).to.include('You said');
      }
    });

  it('keeps no answers, no large requests and no other sessions unless asked', async () => {
    const { pair, folder } = await recording({ maxEach: '1kb', sample: 0.5 });
    const { path, request } = dialects.messages;
    const sessions = Array.from({ length: 40 }, (_, nth) => `session-${nth}`);
    for (const session of sessions)
      for (const text of ['Hello!', 'x'.repeat(2000)])
        await (await pair.post(path, request(text), { 'x-session-id': session })).text();
    const recorded = await closed(folder);
    expect(recorded.length).to.be.within(5, 35);
    for (const each of recorded) {
      expect(each).not.to.have.property('answer');
      expect(JSON.stringify(each.body)).to.include('Hello!');
    }
  });

  it('keeps requests as they stand at its place: Messages requests, without what redact has replaced', async () => {
    const folder = await folders.make({});
    const [auth, limit, decode, ...rest] = stages();
    const record = { use: 'record', with: { folder, answers: true, headers: ['x-team'] } };
    pair = await startPair(
      { pipeline: [auth, limit, decode, { use: 'redact' }, record, ...rest] },
      {},
      undefined,
      { secretKey },
    );
    const headers = { 'x-team': 'red', 'x-team-token': 'secret', 'x-other': 'x', cookie: 'a=b' };
    const { path, request } = dialects.chat;
    const body = { ...request('Write to jo@example.com!'), stream: true };
    const text = await (await pair.post(`${path}?api_key=abc&beta=true`, body, headers)).text();
    expect(text).to.include('jo@example.com');
    const [recorded] = await closed(folder);
    expect(JSON.stringify(recorded!.request!.messages)).to.include('"Write to [EMAIL_1]!"');
    expect(recorded!.request).not.to.have.property('system'); // the persona's, which stands below
    expect(JSON.stringify(recorded)).not.to.match(/jo@example|secret|a=b|abc|x-other/);
    expect(recorded!.answer!.map(([, event]) => event).join('')).to.include('[EMAIL_1]');
    const { format, delivery, url, headers: kept, passed } = recorded!;
    expect([format, delivery, url, kept['x-team']]).to.deep.equal([
      'chat',
      'stream',
      `${path}?beta=true`,
      'red',
    ]);
    expect(passed).to.deep.equal(['auth', 'body-limit', 'format-decode', 'redact']);
  });

  it('takes requests by key, model and format, as any stage', async () => {
    const folder = await folders.make({});
    const [auth, limit, decode, ...rest] = stages();
    const when = { caller: ['mast*'], model: ['sonnet-*'], format: 'messages' };
    const record = { use: 'record', when, with: { folder } };
    pair = await startPair({ pipeline: [auth, limit, decode, record, ...rest] }, {}, undefined, {
      secretKey,
    });
    const { path, request } = dialects.messages;
    for (const model of ['sonnet-5', 'haiku-5'])
      await (await pair.post(path, { ...request('Hi'), model })).text();
    await (await pair.post(dialects.chat.path, { ...dialects.chat.request('Hi'), model: 'sonnet-5' })).text();
    const recorded = await closed(folder);
    expect(recorded.map(({ format, request }) => [format, request!.model])).to.deep.equal([
      ['messages', 'sonnet-5'],
    ]);
  });

  it('is told to operators on every page of the console, and by /admin/pipeline', async () => {
    const { pair } = await recording({ sample: 0.25 });
    const { notices } = (await (await pair.get('/admin/pipeline')).json()) as { notices: readonly string[] };
    expect(notices[0]).to.match(/^Requests are recorded in /);
    const status = (await (await pair.get('/api/panel/status')).json()) as { notices: readonly string[] };
    expect(status.notices).to.have.length(1);
    expect(status.notices[0]).to.match(/^Requests are recorded in .* \(25 %\)$/);
  });

  it('is refused without GW_SECRET_KEY', async () => {
    const folder = await folders.make({});
    const [auth, limit, ...rest] = stages();
    const pipeline = [auth, limit, { use: 'record', with: { folder } }, ...rest];
    const refusal = await startPair({ pipeline }).catch(String);
    expect(refusal).to.match(/record.*GW_SECRET_KEY is not set/s);
  });

  it('is refused without GW_SECRET_KEY by check too, which creates nothing', async () => {
    const pipeline = stages().toSpliced(2, 0, { use: 'record', with: { folder: './recorded' } });
    const made = await folders.make({
      'gateway.yaml': JSON.stringify(configOf({ pipeline, slots: [slotAt('http://127.0.0.1:9')] })),
    });
    const file = join(made, 'gateway.yaml');
    expect(await check(file, {}, false).catch(String)).to.match(/record.*GW_SECRET_KEY is not set/s);
    expect((await check(file, { GW_SECRET_KEY: 'k' }, false)).exitCode).to.equal(0);
    expect(await readdir(made)).to.deep.equal(['gateway.yaml']);
  });

  it('keeps nothing of a dry run', async () => {
    const folder = join(await folders.make({}), 'recorded');
    const pipeline = stages().toSpliced(2, 0, { use: 'record', with: { folder } });
    const text = JSON.stringify(configOf({ pipeline, slots: [slotAt('http://127.0.0.1:9')] }));
    const config = await loadGatewayConfig({ text, file: 'gateway.yaml', env: {} });
    const dry = await DryGateway.open(config, openGateway, { startsStages: true });
    const { path, request } = dialects.messages;
    const [outcome] = await dry.send([{ path, body: request('Hello!') }]);
    await dry.close();
    expect(outcome).to.include({ status: 200 });
    expect(existsSync(folder)).to.equal(false);
  });

  it('can be tested with the secrets of a fake host', async () => {
    const { secrets } = fakeHost();
    expect(await secrets.open('a', await secrets.seal('a', [1]))).to.deep.equal([1]);
  });
});

import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { openGateway } from '#src/features/open.js';
import { openStore } from '#src/state/store/index.js';
import type { ReplayReport } from '#src/features/replay/report.js';
import { replayRecorded, type ReplayArguments } from '#src/features/replay/verb/command.js';
import { dialects, formatNames } from '../../whole/formats/dialects.js';
import { PanelClient } from '../../whole/console/panel-client.js';
import { configOf, masterKey, slotAt, stages, startPair } from '../../whole/harness.js';
import { quiet } from '../../state/store/stores.js';
import { TempFolders } from '../../whole/temp-folders.js';

const secretKey = 'a key of tests';
const env = { GW_SECRET_KEY: secretKey };
const nowhere = 'http://127.0.0.1:9';

/** A pipeline with other stages around `format-decode`, and options by stage. */
function pipelineWith({
  above = [],
  below = [],
  options = {},
}: {
  readonly above?: readonly object[];
  readonly below?: readonly object[];
  readonly options?: Readonly<Record<string, object>>;
}): readonly object[] {
  const [auth, limit, decode, ...rest] = stages({ with: options });
  return [auth!, limit!, ...above, decode!, ...below, ...rest];
}

describe('replay', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  /** Requests in the four formats, recorded by a gateway with these stages. */
  async function recordedBy(
    place: 'above' | 'below',
    beside: readonly object[] = [],
    text = 'Hello!',
  ): Promise<string> {
    const folder = await folders.make();
    const pipeline = pipelineWith({ [place]: [...beside, { use: 'record', with: { folder } }] });
    const pair = await startPair({ pipeline }, {}, undefined, { secretKey });
    for (const format of formatNames)
      for (const stream of [true, false]) {
        const { path: route, request } = dialects[format];
        await (await pair.post(route, { ...request(text), stream }, { 'x-session-id': 's' })).text();
      }
    await pair.close();
    return folder;
  }

  async function configFile(config: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const folder = await folders.make({ 'gateway.yaml': configOf({ slots: [slotAt(nowhere)], ...config }) });
    return path.join(folder, 'gateway.yaml');
  }

  async function replayed(
    recorded: string,
    [old, now]: readonly [object, object],
    options: Partial<ReplayArguments> = {},
  ): Promise<{ readonly report: ReplayReport; readonly exitCode: number }> {
    const files = { old: await configFile({ ...old }), new: await configFile({ ...now }) };
    const { text, exitCode } = await replayRecorded(
      { ...files, recorded, json: true, ...options },
      env,
      openGateway,
    );
    return { report: JSON.parse(text) as ReplayReport, exitCode };
  }

  const kindsOf = ({ groups }: ReplayReport): readonly unknown[] =>
    groups.map(({ kind, old, new: now, count }) => [kind, old, now, count]);

  for (const place of ['above', 'below'] as const)
    it(`finds no difference between equal configs, recorded ${place} format-decode`, async () => {
      const { report, exitCode } = await replayed(await recordedBy(place), [{}, {}]);
      expect(report).to.deep.include({ requests: 8, different: 0, groups: [], skipped: [] });
      expect(exitCode).to.equal(0);
    });

  for (const place of ['above', 'below'] as const)
    it(`finds a changed persona, recorded ${place} format-decode`, async () => {
      const persona = (text: string) => ({
        pipeline: pipelineWith({ options: { 'persona-inject': { text } } }),
      });
      const configs = [persona('Be brief.'), persona('Be brief, be careful, and say so.')] as const;
      const recorded = await recordedBy(place);
      const { report, exitCode } = await replayed(recorded, configs);
      expect(exitCode).to.equal(1);
      expect(report.different).to.equal(8);
      const kinds = report.groups.map(({ kind, count }) => [kind, count]);
      expect(kinds).to.deep.equal([
        ['request', 8],
        ['tokens', 8],
      ]);
      const [request, tokens] = report.groups;
      expect(request).to.include({ new: 'system' }).and.not.to.have.property('fields');
      expect(Number(tokens!.new)).to.be.above(Number(tokens!.old));
      expect(JSON.stringify(report)).not.to.match(/brief|Hello/);
      const shown = await replayed(recorded, configs, { texts: true });
      expect(JSON.stringify(shown.report.groups[0]!.fields)).to.match(/Be brief\..*Be brief, be careful/);
    });

  it('lets recorded Messages requests enter in the list of the pipeline that their key named, or that they choose', async () => {
    const folder = await folders.make();
    const persona = (text: string) => ({
      replace: 'persona-inject',
      by: { use: 'persona-inject', with: { text } },
    });
    const config = (ofRed: string, ofGreen = 'I am green.') => ({
      pipeline: pipelineWith({ below: [{ use: 'record', with: { folder } }] }),
      pipelines: [
        {
          name: 'red',
          changes: [persona(ofRed), { after: 'format-decode', add: [{ use: 'cache-ttl', name: 'own' }] }],
        },
        { name: 'green', when: { format: 'chat' }, changes: [persona(ofGreen)] },
      ],
    });
    const pair = await startPair(config('I am red.'), {}, undefined, { secretKey });
    const issued = await fetch(`${pair.url}/api/panel/keys`, {
      method: 'POST',
      headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'a', pipeline: 'red' }),
    });
    const { key } = (await issued.json()) as { key: string };
    for (const format of ['messages', 'chat'] as const)
      for (const headers of [{ 'x-api-key': key }, {}]) {
        const { path: route, request } = dialects[format];
        await (await pair.post(route, request('Hello!'), headers)).text();
      }
    await pair.close();
    const same = await replayed(folder, [config('I am red.'), config('I am red.')]);
    expect(same.report).to.deep.include({ requests: 4, different: 0, skipped: [] });
    const texts = await replayed(folder, [config('I am red.'), config('I am new.')], { texts: true });
    expect(texts.report.different).to.equal(2);
    expect(JSON.stringify(texts.report.groups[0]!.fields)).to.match(/I am red\..*I am new\./);
    const green = await replayed(folder, [config('I am red.'), config('I am red.', 'I am another.')]);
    expect(green.report.different).to.equal(1);
  });

  it('lets requests choose the pipeline of their team, by its name and by its id', async () => {
    const folder = await folders.make();
    const config = (text: string, team: string) => ({
      pipeline: pipelineWith({ below: [{ use: 'record', with: { folder } }] }),
      pipelines: [
        {
          name: 'red',
          when: { team },
          changes: [{ replace: 'persona-inject', by: { use: 'persona-inject', with: { text } } }],
        },
      ],
    });
    const pair = await startPair(config('I am red.', 'Reds'), {}, undefined, { secretKey });
    const panel = new PanelClient(pair.url);
    const { id: team } = (await panel.ask('POST', '/teams', { name: 'Reds' })) as { id: string };
    const { key } = (await panel.ask('POST', '/keys', { name: 'a', team })) as { key: string };
    const { path: route, request } = dialects.messages;
    for (const headers of [{ 'x-api-key': key }, {}])
      await (await pair.post(route, request('Hello!'), headers)).text();
    await pair.close();
    const old = config('I am red.', 'Reds');
    const same = await replayed(folder, [old, config('I am red.', team)]);
    expect(same.report).to.deep.include({ requests: 2, different: 0, skipped: [] });
    const changed = await replayed(folder, [old, config('I am new.', 'R*')], { texts: true });
    expect(changed.report.different).to.equal(1);
    expect(JSON.stringify(changed.report.groups[0]!.fields)).to.match(/I am red\..*I am new\./);
    expect((await replayed(folder, [old, config('I am red.', 'Blues')])).report.different).to.equal(1);
  });

  it('needs no secrets of the configs', async () => {
    const account = { kind: 'api-key', key: '${A_KEY_THAT_NOBODY_HAS_SET}' };
    const config = { slots: [slotAt(nowhere, { account })] };
    const { report } = await replayed(await recordedBy('above'), [config, config]);
    expect(report).to.include({ requests: 8, different: 0 });
  });

  it('finds a model that no slot serves any more, in words too', async () => {
    const without = { slots: [slotAt(nowhere, { models: ['haiku-*'] })] };
    const recorded = await recordedBy('above');
    const { report } = await replayed(recorded, [{}, without]);
    const refusals = report.groups.filter(({ kind }) => kind === 'refusal');
    expect(refusals.map(({ old, new: now, count }) => [old, now, count])).to.deep.equal([
      ['200', '404 model_not_found', 8],
    ]);
    const files = { old: await configFile(), new: await configFile(without) };
    const { text } = await replayRecorded({ ...files, recorded }, env, openGateway);
    expect(text)
      .to.match(/8 × 200 → 404 model_not_found {2}\(\S+\)/)
      .and.to.include('8 of 8 differ, 0 are alike.');
  });

  it('finds other slots, dropped fields and stages', async () => {
    const folder = await recordedBy('above');
    const slots = ['a', 'b'].map((id) => slotAt(nowhere, { id }));
    const pipeline = pipelineWith({ below: [{ use: 'redact' }] }).filter(
      (entry) => (entry as { use: string }).use !== 'persona-inject',
    );
    const { report } = await replayed(folder, [{ slots }, { slots: slots.slice(1), pipeline }], {
      slot: ['b=text'],
    });
    const kinds = kindsOf(report);
    expect(kinds).to.deep.include(['stages', 'persona-inject', 'redact', 8]);
    expect(kinds.some((entry) => String(entry).startsWith('slot,a,b,'))).to.equal(true);
  });

  it('replays requests below the stages that they had passed', async () => {
    const redact = { use: 'redact' };
    const folder = await recordedBy('below', [redact], 'Write to jo@example.com, not to [MAIL_1].');
    const pipeline = pipelineWith({ below: [redact] });
    const persona = pipelineWith({ below: [redact], options: { 'persona-inject': { text: 'Another.' } } });
    const { report } = await replayed(folder, [{ pipeline }, { pipeline: persona }], { texts: true });
    const [request] = report.groups;
    expect(request).to.include({ kind: 'request', new: 'system', count: 8 });
    expect(JSON.stringify(request)).not.to.include('example.com');
    const same = await replayed(folder, [{ pipeline }, { pipeline }]);
    expect(same.report.groups).to.deep.equal([]);
    const { report: without } = await replayed(folder, [{ pipeline }, { pipeline: pipelineWith({}) }]);
    expect(kindsOf(without)).to.deep.include(['stages', 'redact', '', 8]);
  });

  it('keeps the fields of a caller that Messages has no name for', async () => {
    const folder = await folders.make();
    const pipeline = pipelineWith({ below: [{ use: 'record', with: { folder } }] });
    const pair = await startPair({ pipeline }, {}, undefined, { secretKey });
    const messages = [{ role: 'user', name: 'bob', content: 'Hello!' }];
    const body = { model: 'sonnet-5', messages, logit_bias: { 42: 7 } };
    await (await pair.post('/v1/chat/completions', body)).text();
    await pair.close();
    const slotOf = (preset: string) => ({ slots: [slotAt(nowhere, { upstream: 'chat', with: { preset } })] });
    const { report } = await replayed(folder, [slotOf('openai'), slotOf('groq')]);
    const kinds = kindsOf(report).map(String);
    expect(kinds.find((kind) => kind.startsWith('request')))
      .to.include('logit_bias')
      .and.include('messages');
    expect(kinds.find((kind) => kind.startsWith('dropped'))).to.include('logit_bias');
  });

  it('skips what it cannot read, and says why', async () => {
    const folder = await recordedBy('above');
    const [first, second] = (await readdir(folder)).toSorted();
    const sealed = await readFile(path.join(folder, first!), 'utf8');
    await writeFile(path.join(folder, first!), sealed.slice(0, sealed.length / 2));
    await writeFile(path.join(folder, second!), sealed.replace(/^v1\.[^.]*/, 'v1.another0'));
    const { report, exitCode } = await replayed(folder, [{}, {}]);
    expect([report.requests, exitCode]).to.deep.equal([6, 0]);
    expect(report.skipped.map(({ file }) => path.basename(file))).to.have.members([first, second]);
    expect(report.skipped.map(({ reason }) => reason).join('\n'))
      .to.match(/damaged/)
      .and.to.match(/GW_SECRET_KEY is not the one/);
    const files = { old: await configFile(), new: await configFile() };
    const foreign = await replayRecorded(
      { ...files, recorded: folder },
      { GW_SECRET_KEY: 'another key' },
      openGateway,
    );
    expect(foreign.exitCode).to.equal(2);
    expect(foreign.text).to.match(/8 recordings skipped .*: GW_SECRET_KEY is not the one/);
  });

  it('takes the newest of them, and refuses wrong options', async () => {
    const folder = await recordedBy('above');
    const { report } = await replayed(folder, [{}, {}], { limit: '3' });
    expect([report.requests, report.leftOut]).to.deep.equal([3, 5]);
    const late = await replayed(folder, [{}, {}], { last: '1ms' });
    expect([late.report.requests, late.exitCode]).to.deep.equal([0, 2]);
    const wrong = async (options: Partial<ReplayArguments>): Promise<string> => {
      const files = { old: await configFile(), new: await configFile() };
      return replayRecorded({ ...files, recorded: folder, ...options }, env, openGateway).then(
        () => '',
        String,
      );
    };
    expect(await wrong({ limit: '0' })).to.match(/--limit takes a number/);
    expect(await wrong({ last: 'ever' })).to.match(/--last "ever" is not a duration/);
    expect(await wrong({ slot: ['x=text'] })).to.match(/--slot takes SLOT=SCENARIO/);
    expect(await wrong({ slot: ['a=txet'] })).to.match(/unknown scenario "txet"/);
    expect(await wrong({ recorded: path.join(folder, 'none') })).to.match(/ENOENT/);
    const noKey = replayRecorded(
      { old: await configFile(), new: await configFile(), recorded: folder },
      {},
      openGateway,
    );
    expect(await noKey.catch(String)).to.match(/GW_SECRET_KEY is not set/);
  });

  describe('in the audit log of the store', () => {
    /** Replays and deletes one recording, with a store in `file`. */
    async function used(file: string): Promise<readonly (string | undefined)[]> {
      const recorded = await recordedBy('above');
      const config = await configFile({ store: `sqlite:${file}` });
      const both = await replayRecorded({ old: config, new: config, recorded, last: '7d' }, env, openGateway);
      const deleted = await replayRecorded(
        { old: config, new: config, recorded, delete: true },
        env,
        openGateway,
      );
      return [both.note, deleted.note];
    }

    it('has who did it, with what and when', async () => {
      const file = path.join(await folders.make(), 'gateway.db');
      const where = { kind: 'sqlite', file } as const;
      await (await openStore(where, { log: quiet })).close();
      expect(await used(file)).to.deep.equal([undefined, undefined]);
      const store = await openStore(where, { log: quiet });
      const { entries } = await store.audit.page({}, { limit: 10 });
      await store.close();
      const name = userInfo().username;
      expect(entries.map(({ actor, action, outcome }) => ({ actor, action, outcome }))).to.deep.equal([
        { actor: { kind: 'cli', name }, action: 'recordings.delete', outcome: 'done' },
        { actor: { kind: 'cli', name }, action: 'recordings.replay', outcome: 'done' },
      ]);
      expect(entries[0]!.after).to.deep.equal({ deleted: 8 });
      expect(entries[1]!.after).to.have.all.keys('old', 'new', 'texts', 'since');
    });

    it('has nothing where the store is not there or of another version, which stays so', async () => {
      const file = path.join(await folders.make(), 'gateway.db');
      for (const note of await used(file))
        expect(note).to.match(/^No entry in the audit log of the store: The SQLite file .*audit\.log\.$/);
      expect(existsSync(file)).to.equal(false);
      await (await openStore({ kind: 'sqlite', file }, { log: quiet })).close();
      const database = openDatabase(file);
      database.exec('delete from migrations where name = (select max(name) from migrations)');
      const tables = () => database.prepare('select name from migrations').all();
      const before = tables();
      for (const note of await used(file)) expect(note).to.include('of an older version of gw2api');
      expect(tables()).to.deep.equal(before);
      database.close();
    });
  });

  it('is audited in the folder, and so is a deletion', async () => {
    const folder = await recordedBy('above');
    await replayed(folder, [{}, {}], { texts: true });
    const old = await configFile();
    const { text } = await replayRecorded({ old, new: old, recorded: folder, delete: true }, {}, openGateway);
    expect(text).to.equal(`Deleted 8 recordings of ${folder}.\n`);
    expect(await readdir(folder)).to.deep.equal(['audit.log']);
    const lines = (await readFile(path.join(folder, 'audit.log'), 'utf8')).trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(entries.map(({ what, texts }) => [what, texts])).to.deep.equal([
      ['replay', true],
      ['delete', undefined],
    ]);
    expect(entries[0]).to.include.keys('by', 'time', 'old', 'new');
  });
});

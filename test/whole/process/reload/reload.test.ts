import { expect } from 'chai';
import {
  ask,
  configOf,
  masterKey,
  slotAt,
  stages,
  startGateway,
  type GatewayUnderTest,
} from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

/** Marks the answers of its pipeline, and says when it is set up and disposed. */
const mark = `export default {
  name: 'mark',
  options: { type: 'object', properties: { tag: { type: 'string' } } },
  setup({ tag }, host) {
    host.log.info({ tag }, 'set up');
    host.onDispose(() => host.log.info({ tag }, 'disposed'));
    return async function mark(ctx, next) {
      ctx.set('x-mark', tag);
      await next();
    };
  },
};
`;

const folders = new TempFolders();
let upstream: HeldUpstream;
let folder: string;
let under: GatewayUnderTest;

/** Hooks of a `describe`: at the top of a file they would be those of every test there is. */
function hooks(): void {
  beforeEach(async () => {
    upstream = await startHeldUpstream();
    folder = await folders.make({ 'mark.js': mark });
  });
  afterEach(async () => {
    await upstream.close();
    await under?.close();
    await folders.remove();
  });
}

type Fields = Readonly<Record<string, unknown>>;

async function write(config: Fields): Promise<void> {
  await writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(upstream.url)], ...config }));
}

async function start(config: Fields): Promise<void> {
  await write(config);
  under = await startGateway(`${folder}/gateway.yaml`);
}

function marked(...tags: readonly string[]): Fields {
  return { pipeline: [...tags.map((tag) => ({ use: './mark.js', with: { tag } })), ...stages()] };
}

/** What the marks have said, in order. */
function told(): readonly string[] {
  const lines = under.logged.filter(({ stage }) => stage === 'mark');
  return lines.map(({ msg, tag }) => `${String(msg)} ${String(tag)}`);
}

async function reload(): Promise<{ readonly status: number; readonly body: unknown }> {
  const answer = await under.post('/admin/reload', {});
  return { status: answer.status, body: await answer.json() };
}

async function openStream(headers: Readonly<Record<string, string>> = {}) {
  const response = await under.post('/v1/messages', ask('Hi', { stream: true }), headers);
  return { response, answer: await upstream.next() };
}

interface SlotReport {
  readonly id: string;
  readonly state: string;
  readonly in_flight: number;
  readonly bindings: number;
  readonly max_concurrent: number;
}

async function slots(): Promise<readonly SlotReport[]> {
  const { data } = (await (await under.get('/admin/slots')).json()) as { data: readonly SlotReport[] };
  return data.map(({ id, state, in_flight, bindings, max_concurrent }) => ({
    id,
    state,
    in_flight,
    bindings,
    max_concurrent,
  }));
}

describe('a reload', () => {
  hooks();

  it('lets requests under way finish on the old pipeline, and then disposes it, last stage first', async () => {
    await start(marked('one', 'two'));
    const old = under.gateway.runtime.pipeline;
    const before = await openStream();
    const also = await openStream();
    await write(marked('three'));
    expect(await reload()).to.have.nested.include({ status: 200, 'body.status': 'reloaded' });

    const after = await openStream();
    expect(after.response.headers.get('x-mark')).to.equal('three');
    expect(before.response.headers.get('x-mark')).to.equal('two');
    after.answer.finish();
    await after.response.text();
    before.answer.say(' I am still here.');
    before.answer.finish();
    expect(await before.response.text()).to.match(/I am still here[^]*message_stop/);
    expect(told()).to.deep.equal(['set up one', 'set up two', 'set up three']);

    also.answer.finish();
    await also.response.text();
    await old.retire();
    expect(told().slice(3)).to.deep.equal(['disposed two', 'disposed one']);
  });

  it('disposes the old pipeline at once where nothing is under way', async () => {
    await start(marked('one'));
    const old = under.gateway.runtime.pipeline;
    await write(marked('two'));
    await reload();
    await old.retire();
    expect(told()).to.deep.equal(['set up one', 'set up two', 'disposed one']);
    await under.close();
    expect(told().at(-1)).to.equal('disposed two');
  });

  it('counts a request whose caller has left as ended', async () => {
    await start(marked('one'));
    const old = under.gateway.runtime.pipeline;
    const { response, answer } = await openStream();
    await write(marked('two'));
    await reload();
    await response.body!.cancel();
    await old.retire();
    expect(told().at(-1)).to.equal('disposed one');
    expect(await answer.closed, 'whether the upstream could finish').to.equal(false);
  });

  it('is one after the other where several are asked for at once', async () => {
    await start(marked('one'));
    await write(marked('two'));
    const answers = await Promise.all([reload(), reload(), reload()]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const { response, answer } = await openStream();
    expect(response.headers.get('x-mark')).to.equal('two');
    answer.finish();
    await response.text();
    await under.close();
    expect(told()).to.deep.equal([
      'set up one',
      'set up two',
      'disposed one',
      'set up two',
      'disposed two',
      'set up two',
      'disposed two',
      'disposed two',
    ]);
  });

  it('takes a plugin file that was edited', async () => {
    await start(marked('one'));
    await writeIn(folder, 'mark.js', mark.replace("'x-mark', tag", "'x-mark', `edited ${tag}`"));
    await reload();
    const { response, answer } = await openStream();
    expect(response.headers.get('x-mark')).to.equal('edited one');
    answer.finish();
    await response.text();
  });

  it('takes a CommonJS plugin file that was edited', async () => {
    const plugin = (text: string) =>
      `module.exports = () => async (ctx, next) => { ctx.set('x-old', '${text}'); await next(); };`;
    await writeIn(folder, 'old.cjs', plugin('one'));
    await start({ pipeline: [{ use: './old.cjs' }, ...stages()] });
    expect((await under.get('/v1/models')).headers.get('x-old')).to.equal('one');
    await writeIn(folder, 'old.cjs', plugin('two'));
    await reload();
    expect((await under.get('/v1/models')).headers.get('x-old')).to.equal('two');
  });

  it('takes a new catalog', async () => {
    await writeIn(folder, 'models.yaml', { models: [{ id: 'old-model' }] });
    await start({ models: './models.yaml' });
    await writeIn(folder, 'models.yaml', { models: [{ id: 'new-model' }] });
    await reload();
    const { data } = (await (await under.get('/v1/models')).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).to.deep.equal(['new-model']);
  });

  it('still tells of them when it brings no more of them, and of none that it takes', async () => {
    await start({});
    await write({ listen: { host: '127.0.0.1', port: 0, trustProxy: true } });
    await reload();
    expect(await reload()).to.have.deep.nested.property('body.needs_restart', ['listen']);
    await write({ listen: { host: '127.0.0.1', port: 0, shutdownTimeout: '1s' } });
    expect(await reload()).to.have.deep.nested.property('body.needs_restart', []);
  });

  it('tells which settings wait for the next start', async () => {
    await start({});
    const listen = { host: '127.0.0.1', port: 0, trustProxy: true };
    await write({ listen });
    expect(await reload()).to.have.deep.nested.property('body.needs_restart', ['listen']);
    const warnings = under.logged.filter(({ level }) => level === 'warn');
    expect(warnings).to.deep.equal([
      { level: 'warn', changed: ['listen'], msg: 'These settings take effect at the next start.' },
    ]);
    expect((await under.get('/health')).status).to.equal(200);
  });
});

describe('a reload of a config that is bad', () => {
  hooks();

  const cases: readonly (readonly [string, Fields, RegExp])[] = [
    ['a key nobody knows', { formatts: [] }, /formatts: is not a known key; did you mean "formats"\?/],
    ['a plugin nobody has', { pipeline: [{ use: 'oath' }] }, /"oath" is neither a built-in nor/],
    ['an order that cannot work', { pipeline: stages().toReversed() }, /"format-encode" needs "reply"/],
    [
      'a plugin that cannot be set up',
      { pipeline: [...stages({ with: { 'slot-pick': { policy: 'random' } } })] },
      /"slot-pick" cannot be set up: unknown policy "random"/,
    ],
  ];
  for (const [what, config, says] of cases)
    it(`keeps the old one and says why: ${what}`, async () => {
      await start(marked('one'));
      await write({ ...config, ...(config['pipeline'] ? {} : marked('two')) });
      const { status, body } = await reload();
      expect(status).to.equal(400);
      const { type, code, message } = (body as { error: Record<string, string> }).error;
      expect([type, code]).to.deep.equal(['invalid_request_error', 'invalid_request']);
      const [first, ...problems] = message!.split('\n');
      expect(first).to.equal('The new config was refused; the old one stays in force.');
      expect(problems.join('\n')).to.match(says);
      for (const problem of problems) expect(problem).to.match(/gateway\.yaml:\d+:\d+ /);

      const { response, answer } = await openStream();
      expect(response.headers.get('x-mark')).to.equal('one');
      answer.finish();
      await response.text();
      expect(told()).not.to.include('disposed one');
    });

  it('disposes the stages that were set up before the one that could not be', async () => {
    await start(marked('one'));
    await write({
      pipeline: [
        { use: './mark.js', with: { tag: 'two' } },
        ...stages({ with: { 'slot-pick': { policy: 'random' } } }),
      ],
    });
    expect((await reload()).status).to.equal(400);
    expect(told()).to.deep.equal(['set up one', 'set up two', 'disposed two']);
  });

  it('is no trouble for the next one', async () => {
    await start(marked('one'));
    await writeIn(folder, 'gateway.yaml', 'pipeline: [');
    expect((await reload()).status).to.equal(400);
    await write(marked('two'));
    expect((await reload()).status).to.equal(200);
    expect(told()).to.include('set up two');
  });

  it('is refused to everybody without the master key', async () => {
    await start({});
    expect((await fetch(`${under.url}/admin/reload`, { method: 'POST' })).status).to.equal(401);
    expect((await under.post('/admin/reload', {}, { 'x-api-key': 'wrong' })).status).to.equal(401);
    expect(
      (await fetch(`${under.url}/admin/reload`, { method: 'PUT', headers: { 'x-api-key': masterKey } }))
        .status,
    ).to.equal(405);
  });
});

describe('the slots of a reload', () => {
  hooks();

  const a = () => slotAt(upstream.url);
  const b = (settings: object = {}) =>
    slotAt(upstream.url, { id: 'b', account: { kind: 'api-key', key: 'upstream-key-b' }, ...settings });

  it('keep by their ids what they are in the middle of', async () => {
    await start({ slots: [a(), b()] });
    await under.post('/admin/slots/b/pause', {});
    const { response, answer } = await openStream({ 'x-session-id': 'mine' });
    expect(response.headers.get('x-gw-slot')).to.equal('a');
    await write({ slots: [b({ maxConcurrent: 2 }), a()] });
    await reload();
    expect(await slots()).to.deep.equal([
      { id: 'b', state: 'paused', in_flight: 0, bindings: 0, max_concurrent: 2 },
      { id: 'a', state: 'ready', in_flight: 1, bindings: 1, max_concurrent: 32 },
    ]);

    await under.post('/admin/slots/b/resume', {});
    const again = await openStream({ 'x-session-id': 'mine' });
    expect(again.response.headers.get('x-gw-slot')).to.equal('a');
    for (const held of [answer, again.answer]) held.finish();
    await Promise.all([response.text(), again.response.text()]);
    expect((await slots()).map(({ in_flight }) => in_flight)).to.deep.equal([0, 0]);
  });

  it('that are gone finish what they have begun', async () => {
    await start({ slots: [a(), b()] });
    const { response, answer } = await openStream({ 'x-session-id': 'mine' });
    expect(response.headers.get('x-gw-slot')).to.equal('a');
    await write({ slots: [b()] });
    await reload();
    expect((await slots()).map(({ id }) => id)).to.deep.equal(['b']);

    const moved = await openStream({ 'x-session-id': 'mine' });
    expect(moved.response.headers.get('x-gw-slot')).to.equal('b');
    answer.say(' The end of it.');
    answer.finish();
    expect(await response.text()).to.match(/The end of it[^]*message_stop/);
    moved.answer.finish();
    await moved.response.text();
  });

  it('that have another key are asked with it, and what is under way keeps the old one', async () => {
    await start({ slots: [a()] });
    const before = await openStream();
    await write({ slots: [slotAt(upstream.url, { account: { kind: 'api-key', key: 'new-key' } })] });
    await reload();
    const after = await openStream();
    expect([before.answer.credential, after.answer.credential]).to.deep.equal(['upstream-key-a', 'new-key']);
    for (const { answer } of [before, after]) answer.finish();
    expect(await before.response.text()).to.include('message_stop');
    expect(await after.response.text()).to.include('message_stop');
  });

  it('that cannot be opened leave everything as it was', async () => {
    await start({ slots: [a()] });
    await write({ slots: [a(), b({ upstream: 'telepathy' })] });
    expect((await reload()).status).to.equal(400);
    expect((await slots()).map(({ id }) => id)).to.deep.equal(['a']);
  });
});

import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../../../eventually.js';
import { ask, configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { SocketClient } from '../../socket-client.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

/** Marks the answers of its pipeline; fails every request where it is told to. */
const mark = `export default {
  name: 'mark',
  options: { type: 'object', properties: { tag: { type: 'string' }, fails: { type: 'boolean' } } },
  setup({ tag, fails }, host) {
    host.onDispose(() => host.log.info({ tag }, 'disposed'));
    return async function mark(ctx, next) {
      ctx.set('x-mark', tag);
      if (fails) ctx.throw(400, 'It fails.');
      await next();
    };
  },
};
`;

interface Side {
  readonly requests: number;
  readonly errors: number;
  readonly failed_sessions: number;
  readonly first_token_ms: { readonly p50: number | null };
  readonly added_tokens: number;
}

interface Canary {
  readonly state: string;
  readonly percent: number;
  readonly candidate: Side;
  readonly control: Side;
  readonly evidence: number;
  readonly changes: { readonly stages: readonly object[] };
}

type Fields = Readonly<Record<string, unknown>>;

describe('a canary', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let folder: string;
  let under: GatewayUnderTest;

  beforeEach(async () => {
    simulator = await startSimulator();
    folder = await folders.make({ 'mark.js': mark });
  });
  afterEach(async () => {
    await under?.close();
    await simulator.close();
    await folders.remove();
  });

  async function write(options: Fields, config: Fields = {}): Promise<void> {
    const pipeline = [{ use: './mark.js', with: options }, ...stages()];
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [slotAt(simulator.url)], pipeline, ...config }));
  }

  async function start(options: Fields): Promise<void> {
    await write(options);
    under = await startGateway(`${folder}/gateway.yaml`);
  }

  async function change(path: string): Promise<{ status: number; body: Fields & { error?: Fields } }> {
    const answer = await under.post(`/admin/reload${path}`, {});
    return { status: answer.status, body: (await answer.json()) as Fields };
  }

  async function canary(): Promise<Canary | null> {
    const { canary: report } = (await (await under.get('/admin/reload')).json()) as { canary: Canary | null };
    return report;
  }

  /** Mark of the pipeline that has answered. */
  async function markOf(session?: string): Promise<string | null> {
    const headers: Record<string, string> = session === undefined ? {} : { 'x-session-id': session };
    const response = await under.post('/v1/messages', ask('Hi'), headers);
    await response.text();
    return response.headers.get('x-mark');
  }

  /** Marks of so many new sessions. */
  function marksOf(count: number, name = 'session'): Promise<(string | null)[]> {
    return Promise.all(Array.from({ length: count }, (_, at) => markOf(`${name} ${at}`)));
  }

  function isDisposed(tag: string): boolean {
    return under.logged.some((line) => line['msg'] === 'disposed' && line['tag'] === tag);
  }

  it('gives a share of new sessions the new config, always the same ones, and nothing else changes', async () => {
    await start({ tag: 'old' });
    const before = await marksOf(20, 'before');
    expect(new Set(before)).to.deep.equal(new Set(['old']));
    await write({ tag: 'new' });
    const { status, body } = await change('?canary=50');
    expect(status).to.equal(200);
    expect(body).to.have.property('status', 'canary');
    expect(body).to.have.nested.property('changes.stages[0].name', 'mark');

    const first = await marksOf(40);
    expect(first.filter((tag) => tag === 'new')).to.have.length.within(8, 32);
    expect(await marksOf(40)).to.deep.equal(first);
    expect(await marksOf(20, 'before'), 'sessions from before').to.deep.equal(before);
  });

  it('takes each request without a session for a session of its own', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    await change('?canary=50');
    const marks = await Promise.all(Array.from({ length: 40 }, () => markOf()));
    expect(marks.filter((tag) => tag === 'new')).to.have.length.within(8, 32);
  });

  it('shows both sides, is taken wholly by a commit, and disposes the old pipeline then', async () => {
    await start({ tag: 'old' });
    expect(await canary()).to.equal(null);
    await write({ tag: 'new' });
    await change('?canary=50');
    const marks = await marksOf(30);
    const running = (await canary())!;
    expect(running).to.include({ state: 'running', percent: 50 });
    expect(running.candidate.requests).to.equal(marks.filter((tag) => tag === 'new').length);
    expect(running.candidate.requests + running.control.requests).to.equal(30);
    expect(running.candidate).to.include({ errors: 0, failed_sessions: 0 });
    expect(running.candidate.first_token_ms.p50).to.be.a('number');
    expect(running.changes.stages).to.have.length(1);

    expect(await change('/commit')).to.have.nested.include({ status: 200, 'body.status': 'reloaded' });
    expect(new Set(await marksOf(30))).to.deep.equal(new Set(['new']));
    expect(await canary()).to.include({ state: 'committed' });
    await eventually(() => isDisposed('old'));
    expect(isDisposed('new')).to.equal(false);
  });

  it('has no part of the playground, whose requests keep the config in force', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    await change('?canary=50');
    const run = async (at: number) => {
      const call = { post: '/v1/messages', body: ask('Hi'), headers: { 'x-session-id': `session ${at}` } };
      const text = await (await under.post('/api/panel/playground', { ...call, as: 'master' })).text();
      return /event: head\ndata: .*?"status":(\d+)/.exec(text)?.[1];
    };
    const heads = await Promise.all(Array.from({ length: 20 }, (_, at) => run(at)));
    expect(new Set(heads)).to.deep.equal(new Set(['200']));
    const { candidate, control } = (await canary())!;
    expect([candidate.requests, control.requests]).to.deep.equal([0, 0]);
  });

  it('ends without a trace where it is cancelled', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    await change('?canary=50');
    expect(await marksOf(30)).to.include('new');
    expect(await change('/cancel')).to.have.nested.include({ status: 200, 'body.canary.state': 'cancelled' });
    expect(new Set(await marksOf(30))).to.deep.equal(new Set(['old']));
    await eventually(() => isDisposed('new'));
    for (const path of ['/commit', '/cancel'])
      expect(await change(path)).to.have.nested.include({ status: 409, 'body.error.code': 'conflict' });
  });

  it('is replaced by a reload, which takes the file as it stands', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    await change('?canary=50');
    await write({ tag: 'newest' });
    expect(await change('')).to.have.nested.include({ status: 200, 'body.status': 'reloaded' });
    expect(new Set(await marksOf(30))).to.deep.equal(new Set(['newest']));
    expect(await canary()).to.include({ state: 'replaced' });
    await eventually(() => isDisposed('new'));
  });

  it('is given up once its errors are clearly more, however few the requests are', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new', fails: true });
    await change('?canary=50');
    await marksOf(60);
    await eventually(async () => (await canary())!.state === 'given_up');
    const { candidate, control, evidence } = (await canary())!;
    expect(candidate.requests).to.be.within(8, 40);
    expect(candidate.failed_sessions).to.equal(candidate.requests);
    expect(control.errors).to.equal(0);
    expect(evidence).to.be.above(100);
    expect(new Set(await marksOf(30, 'after'))).to.deep.equal(new Set(['old']));
    expect(under.logged.filter(({ level }) => level === 'error').map(({ msg }) => msg)).to.deep.equal([
      'The canary was rolled back: its error rate is significantly higher. The old config stays in force.',
    ]);
  });

  it('counts a session that fails again and again only once', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new', fails: true });
    await change('?canary=50');
    let failing = 0;
    while ((await markOf(`session ${failing}`)) !== 'new') failing += 1;
    for (let time = 0; time < 5; time += 1) await markOf(`session ${failing}`);
    const { candidate } = (await canary())!;
    expect(candidate.errors - candidate.failed_sessions).to.equal(5);
  });

  it('is refused where it changes what both sides share, or cannot be read', async () => {
    await start({ tag: 'old' });
    const slots = [slotAt(simulator.url), slotAt(simulator.url, { id: 'b' })];
    await write({ tag: 'new' }, { slots });
    const refused = await change('?canary=5');
    expect([refused.status, refused.body.error!['code']]).to.deep.equal([409, 'conflict']);
    expect(refused.body.error!['message']).to.match(/shares the slots with the config in force/);
    for (const wrong of ['0', '51', 'all', '-5', '5.55', ''])
      expect(await change(`?canary=${wrong}`)).to.have.nested.include({
        status: 400,
        'body.error.message':
          'canary: must be a percentage from 0.1 to 50, with at most one decimal place, such as 5.',
      });
    await writeIn(folder, 'gateway.yaml', { formatts: [] });
    expect((await change('?canary=5')).status).to.equal(400);
    expect(await canary()).to.equal(null);
    expect(new Set(await marksOf(10))).to.deep.equal(new Set(['old']));
  });

  it('is refused where it no longer serves a format, whose callers no figure would count', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' }, { formats: ['messages', 'responses', 'completions'] });
    const refused = await change('?canary=5');
    expect([refused.status, refused.body.error!['code']]).to.deep.equal([409, 'conflict']);
    expect(refused.body.error!['message']).to.include('no longer serves POST /v1/chat/completions.');
    expect(await canary()).to.equal(null);
    expect((await change('')).status).to.equal(200);
  });

  it('takes the same shares by the panel and by /admin', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    for (const percent of [0.05, 50.1, 5.55, 0]) {
      expect((await under.post('/api/panel/canary', { percent })).status, String(percent)).to.equal(400);
      expect((await change(`?canary=${percent}`)).status, String(percent)).to.equal(400);
    }
    for (const percent of [0.1, 2.5, 50]) {
      expect((await under.post('/api/panel/canary', { percent })).status, String(percent)).to.equal(200);
      expect((await change(`?canary=${percent}`)).status, String(percent)).to.equal(200);
    }
  });

  it('takes a WebSocket without a session for one session', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    await change('?canary=50');
    for (let at = 0; at < 8; at += 1) {
      const socket = await SocketClient.open(under);
      for (let turn = 0; turn < 4; turn += 1) {
        socket.create({ input: 'Hi' });
        await socket.answer();
      }
      await socket.close();
    }
    const { candidate, control } = (await canary())!;
    expect(candidate.requests + control.requests).to.equal(32);
    expect([candidate.requests % 4, control.requests % 4]).to.deep.equal([0, 0]);
  });

  it('says where the other instances are not there, so that a session may change its side', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    expect((await change('?canary=50')).body).to.have.property('shared', true);
    Object.defineProperty(under.gateway.services.live, 'isDown', { value: true });
    expect((await change('?canary=50')).body).to.have.property('shared', false);
    expect(await canary()).to.have.property('shared', false);
  });

  it('lets its requests finish, and its gateway end', async () => {
    await start({ tag: 'old' });
    await write({ tag: 'new' });
    await change('?canary=50');
    await marksOf(10);
    await under.close();
    expect(isDisposed('old')).to.equal(true);
    expect(isDisposed('new')).to.equal(true);
  });
});

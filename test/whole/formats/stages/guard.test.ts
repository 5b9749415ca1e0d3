import { expect } from 'chai';
import type { MessagesResponse } from '@gw2api/gateway/plugin';
import { dialects, formatNames } from '../dialects.js';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, inFlight, only, startTeam } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';

/** The default pipeline with a guard above slot-pick. */
function guarded(options: object, stage: object = {}): readonly object[] {
  const all = stages({ with: { 'slot-pick': { policy: 'priority' } } });
  const at = all.findIndex((entry) => (entry as { use: string }).use === 'slot-pick');
  return [...all.slice(0, at), { use: 'guard', with: options, ...stage }, ...all.slice(at)];
}

const patterns = [{ name: 'project', pattern: '(?i)project\\s+bluebird' }];
const text = `${'All is well. '.repeat(40)}We call it Project Bluebird, and that is ${'all. '.repeat(100)}`;
/** Has an answer that comes in many deltas. */
const said = `[[sim:say text="${text}"]]`;

describe('guard', () => {
  let pair: Pair | undefined;
  const folders = new TempFolders();
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await folders.remove();
  });

  const start = async (options: object): Promise<Pair> =>
    (pair = await startPair({ pipeline: guarded({ patterns, hold: 40, ...options }) }));

  /** A message of a gateway with a guard. */
  async function answer(options: object, text = said, fields: object = {}): Promise<MessagesResponse> {
    const response = await (await start(options)).post('/v1/messages', ask(text, fields));
    expect(response.status).to.equal(200);
    return (await response.json()) as MessagesResponse;
  }

  const stopReasons = {
    messages: /"stop_reason":"refusal"/,
    chat: /"finish_reason":"content_filter"/,
    responses: /"type":"refusal","refusal":"Removed by a rule/,
    completions: /"finish_reason":"content_filter"/,
  };
  for (const format of formatNames)
    for (const stream of [false, true])
      it(`ends an answer as a refusal in the caller's dialect: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { path, request, fold, whole } = dialects[format];
        const gateway = await start({});
        const body = await (await gateway.post(path, { ...request(said), stream })).text();
        const answered = JSON.stringify(await (stream ? fold(body) : whole(JSON.parse(body))));
        expect(answered)
          .to.include('We call it ')
          .and.not.to.match(/Bluebird/);
        expect(answered).to.match(stopReasons[format]);
      });

  it('ends it as if it were complete with action: cut', async () => {
    const { stop_reason, content } = await answer({ action: 'cut' });
    expect(stop_reason).to.equal('end_turn');
    expect(JSON.stringify(content)).to.match(/We call it "/);
  });

  it('puts a text in its place with action: mask', async () => {
    const { stop_reason, content } = await answer({ action: 'mask', text: 'the project' });
    expect(stop_reason).to.equal('end_turn');
    expect(JSON.stringify(content)).to.include('We call it the project, and that is all.');
  });

  it('masks the input of tools as JSON', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string', const: 'Project Bluebird' } },
      required: ['name'],
    };
    const tools = [{ name: 'find', input_schema: schema }];
    const { content } = await answer({ action: 'mask', text: '"?"' }, '[[sim:tool]]', { tools });
    expect(content.find(({ type }) => type === 'tool_use')).to.have.deep.property('input', { name: '"?"' });
  });

  it('lets the call end where it ends the answer', async () => {
    const gateway = await start({});
    const closed = gateway.simulator
      .nextRequest(({ path }) => path === '/v1/messages')
      .then(({ closed }) => closed);
    const response = await gateway.post('/v1/messages', ask(`[[sim:slow ms=20]] ${said}`, { stream: true }));
    expect(await response.text()).to.include('refusal');
    expect(await closed).to.equal('aborted');
    await pair!.gateway.exchanges.idle();
    expect(inFlight(pair!)).to.deep.equal([0]);
  });

  it('refuses a request without a call where asked', async () => {
    const { stop_reason, content, usage } = await answer({ request: true });
    expect([stop_reason, usage.input_tokens]).to.deep.equal(['refusal', 0]);
    expect(content).to.deep.equal([{ type: 'text', text: 'Removed by a rule of this gateway.' }]);
    expect(callsTo(pair!.simulator)).to.deep.equal([]);
  });

  it('masks a request where asked', async () => {
    const { content } = await answer(
      { request: true, action: 'mask', text: 'X' },
      'Is Project Bluebird ready?',
    );
    expect(JSON.stringify(content)).to.include('You said: Is X ready?');
    expect(JSON.stringify(callsTo(pair!.simulator)[0]!.body)).not.to.include('Bluebird');
  });

  it('only counts with action: audit, and passes all bytes on as they came', async () => {
    const gateway = await start({ action: 'audit', request: true });
    const response = await gateway.post('/v1/messages', ask(said, { stream: true }));
    const plain = await startPair({});
    const other = await plain.post('/v1/messages', ask(said, { stream: true }));
    const comparable = async (each: Response) => (await each.text()).replaceAll(/msg_\w+/g, '');
    expect(await comparable(response)).to.equal(await comparable(other));
    await plain.close();
    const metrics = await (await pair!.get('/metrics')).text();
    for (const place of ['request', 'answer'])
      expect(metrics).to.include(`gw2api_guard_matches_total{pattern="project",place="${place}"} 1`);
  });

  it('takes a function of a module', async () => {
    const code = `export default (text, from) => {
      const start = text.indexOf('Bluebird', from);
      return start < 0 ? undefined : { start, end: start + 8 };
    };`;
    const folder = await folders.make({ 'rule.mjs': code });
    const { content } = await answer({
      patterns: [],
      module: `${folder}/rule.mjs`,
      action: 'mask',
      text: 'X',
    });
    expect(JSON.stringify(content)).to.include('We call it Project X, and');
  });

  it('blames a function that finds what is none', async () => {
    const folder = await folders.make({ 'rule.mjs': 'export default () => ({ start: 0, end: 0 });' });
    const gateway = await start({ patterns: [], module: `${folder}/rule.mjs`, request: true });
    const response = await gateway.post('/v1/messages', ask('Hi'));
    expect(response.status).to.equal(500);
    const logged = gateway.logged.map(({ err }) => String(err)).join();
    expect(logged).to.include('rule.mjs found').and.include('return { start, end }');
  });

  it('is refused without a rule', async () => {
    expect(await startPair({ pipeline: guarded({}) }).catch(String)).to.match(
      /guard.*name at least one, or a module/s,
    );
  });

  for (const fault of ['cut after=12', 'end after=12', 'error after=12'])
    it(`leaves a whole answer that breaks to another slot: ${fault}`, async () => {
      const team = await startTeam({ pipeline: guarded({ patterns, hold: 40 }) });
      team.simulator.faults.push(only('a', fault));
      const response = await team.post('/v1/messages', ask('All is well. '.repeat(40)));
      const { content } = (await response.json()) as MessagesResponse;
      const slot = response.headers.get('x-gw-slot');
      await team.close();
      expect([response.status, slot]).to.deep.equal([200, 'b']);
      expect(JSON.stringify(content)).to.include('You said: All is well.');
    });

  it('counts what it has found, once each', async () => {
    await answer({ action: 'mask' }, `[[sim:say text="${text} ${text}"]]`);
    const metrics = await (await pair!.get('/metrics')).text();
    expect(metrics).to.include('gw2api_guard_matches_total{pattern="project",place="answer"} 2');
  });
});

import { expect } from 'chai';
import { fakeModels } from '@gw2api/gateway/testing';
import { describePipeline } from '#src/engine/pipeline/run/describe.js';
import type { Pipeline } from '#src/engine/pipeline/run/pipeline.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';
import { Workshop, list, moduleText, whole } from '../workshop.js';

const checked = `gateway.yaml: 9 stages, 1 slot, 3 models, 0.0.0.0:8787

pipeline
  auth           -> caller                                     for generate count-tokens models usage route
  body-limit     -> body                                       for generate count-tokens
  ./redact.js    off
  format-decode  format body interceptors -> request delivery  seals body; for generate count-tokens
  max-tokens     request -> request                            when format is chat or responses, model is sonnet-*
  slot-pick      request caller -> picker                      for generate count-tokens
  upstream-call  request picker interceptors -> reply          seals request picker interceptors; for generate count-tokens
  usage-mask     reply additions -> reply
  format-encode  format delivery reply -> response             seals reply; for generate count-tokens

slots
  a  simulator  none  *
`;

describe('a pipeline', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
  });
  afterEach(() => workshop.close());

  it('walks each kind of request through its own stages, in the order of the config', async () => {
    const pipeline = await workshop.build(list(...whole));
    expect(await trail(pipeline, { operation: 'generate' })).to.deep.equal([...whole]);
    expect(await trail(pipeline, { operation: 'count-tokens' })).to.deep.equal(
      whole.filter((name) => name !== 'max-tokens' && name !== 'usage-mask'),
    );
    expect(await trail(pipeline, { operation: 'models' })).to.deep.equal(['auth']);
    expect(await trail(pipeline, { operation: 'other' })).to.deep.equal([]);
  });

  it('neither loads nor checks a stage that is switched off', async () => {
    const pipeline = await workshop.build(
      list('./nowhere.js\n    enabled: false\n    with: { a: 1 }', ...whole),
    );
    expect(pipeline.stages[0]).to.deep.include({
      name: './nowhere.js',
      enabled: false,
      options: { a: '***' },
    });
    expect(pipeline.stages).to.have.length(whole.length + 1);
  });

  it('says what is wrong with plugins, options and order at once', async () => {
    expect(
      await workshop.problems(
        list(
          'auth',
          'body-limt',
          'format-decode',
          'max-tokens\n    with: { cap: lots }',
          'upstream-call',
          'format-encode',
        ),
      ),
    ).to.deep.equal([
      'gateway.yaml:3:5 pipeline[1].use "body-limt" is neither a built-in nor an installed npm package; did you mean "body-limit"?',
      'gateway.yaml:6:13 pipeline[3].with.cap: must be a whole number, not a string',
    ]);
  });

  describe('with a condition', () => {
    it('passes only requests of its formats', async () => {
      const pipeline = await conditional(workshop, '{ format: [chat, responses] }');
      expect(await passes(pipeline, { format: 'responses' })).to.equal(true);
      expect(await passes(pipeline, { format: 'messages' })).to.equal(false);
    });

    it('matches the catalog id, whatever alias the caller used, and names that the catalog lacks', async () => {
      const pipeline = await conditional(workshop, '{ model: "sonnet-*" }');
      expect(await passes(pipeline, request('sonnet'))).to.equal(true);
      expect(await passes(pipeline, request('sonnet-9'))).to.equal(true);
      expect(await passes(pipeline, request('haiku-5'))).to.equal(false);
      expect(await passes(pipeline, {})).to.equal(false);
    });

    it('matches a caller by key id or name', async () => {
      const pipeline = await conditional(workshop, '{ caller: ["team-*", k2] }');
      expect(await passes(pipeline, caller('k1', 'team-a'))).to.equal(true);
      expect(await passes(pipeline, caller('k2', 'other'))).to.equal(true);
      expect(await passes(pipeline, caller('master', 'master'))).to.equal(false);
    });

    it('wants every part of it to match', async () => {
      const pipeline = await conditional(workshop, '{ format: chat, model: haiku-5, operation: generate }');
      expect(await passes(pipeline, { format: 'chat', ...request('haiku-5') })).to.equal(true);
      expect(await passes(pipeline, { format: 'messages', ...request('haiku-5') })).to.equal(false);
    });

    it('matches the value of a header, whole, and never a header that is not there', async () => {
      const pipeline = await conditional(workshop, '{ header: { X-Team: [red, "blue-*"] } }');
      const passesWith = (headers: object) => passes(pipeline, {}, headers);
      expect(await passesWith({ 'x-team': 'red' })).to.equal(true);
      expect(await passesWith({ 'x-team': 'blue-2' })).to.equal(true);
      expect(await passesWith({ 'x-team': 'redder' })).to.equal(false);
      expect(await passesWith({})).to.equal(false);
      expect(await passes(await conditional(workshop, '{ header: { x-team: "*" } }'), {})).to.equal(false);
    });

    it('matches answers that are streamed, or whole ones', async () => {
      for (const [stream, other] of [
        ['stream', 'whole'],
        ['whole', 'stream'],
      ]) {
        const pipeline = await conditional(workshop, `{ stream: ${stream === 'stream'} }`);
        expect(await passes(pipeline, { delivery: stream })).to.equal(true);
        expect(await passes(pipeline, { delivery: other })).to.equal(false);
      }
    });

    it('takes its part of the sessions, a session always on the same side', async () => {
      const pipeline = await conditional(workshop, '{ sample: 25% }');
      const names = Array.from({ length: 400 }, (_, at) => `session-${at}`);
      const asHeader = (name: string) =>
        passes(pipeline, { requestId: name + name }, { 'x-session-id': name });
      const sides = await Promise.all(names.map(asHeader));
      expect(sides.filter(Boolean).length).to.be.within(70, 130);
      expect(await Promise.all(names.map(asHeader))).to.deep.equal(sides);
      const inBody = (name: string) => passes(pipeline, { body: { prompt_cache_key: name } });
      expect(await Promise.all(names.map(inBody))).to.deep.equal(sides);
      const asUser = (name: string) => passes(pipeline, { body: { metadata: { user_id: name } } });
      expect(await Promise.all(names.map(asUser))).to.deep.equal(sides);
      const translated = (name: string) =>
        passes(pipeline, { request: { model: 'm', messages: [], metadata: { user_id: name } } });
      expect(await Promise.all(names.map(translated))).to.deep.equal(sides);
    });

    it('takes its part of the requests where nothing names a session', async () => {
      const pipeline = await conditional(workshop, '{ sample: 25% }');
      const ids = Array.from({ length: 400 }, (_, at) => `request-${at}`);
      const sides = await Promise.all(ids.map((requestId) => passes(pipeline, { requestId })));
      expect(sides.filter(Boolean).length).to.be.within(70, 130);
      for (const [share, isTaken] of [
        ['0%', false],
        ['100%', true],
      ])
        expect(await passes(await conditional(workshop, `{ sample: ${share} }`), {})).to.equal(isTaken);
    });

    it('leaves out what matches all of "not"', async () => {
      const pipeline = await conditional(workshop, '{ format: chat, not: { model: haiku-5, stream: true } }');
      const chat = { format: 'chat', ...request('haiku-5') };
      expect(await passes(pipeline, { ...chat, delivery: 'stream' })).to.equal(false);
      expect(await passes(pipeline, { ...chat, delivery: 'whole' })).to.equal(true);
      expect(await passes(pipeline, { ...chat, ...request('sonnet'), delivery: 'stream' })).to.equal(true);
      expect(
        await passes(pipeline, { format: 'messages', ...request('sonnet'), delivery: 'whole' }),
      ).to.equal(false);
      expect(await passes(pipeline, { format: 'chat', delivery: 'whole' }), 'one without a model').to.equal(
        false,
      );
    });
  });

  describe('with alternatives', () => {
    it('passes the first whose conditions hold, and only that one', async () => {
      const pipeline = await workshop.build(
        alternatives(
          '{ use: slot-pick, name: for-red, when: { header: { x-team: red } } }',
          '{ use: slot-pick, name: for-chat, when: { format: chat } }',
          '{ use: slot-pick, name: for-all }',
        ),
      );
      const taken = async (state: object, headers: object = {}) =>
        (await stagesOf(pipeline, state, headers)).filter((name) => name.startsWith('for-'));
      expect(await taken({ format: 'chat' }, { 'x-team': 'red' })).to.deep.equal(['for-red']);
      expect(await taken({ format: 'chat' })).to.deep.equal(['for-chat']);
      expect(await taken({})).to.deep.equal(['for-all']);
      expect(await stagesOf(pipeline, {})).to.deep.equal(
        whole.map((name) => (name === 'slot-pick' ? 'for-all' : name)),
      );
    });

    it('goes by those that are for requests of this kind, and that are switched on', async () => {
      await workshop.write('chats.js', moduleText({ name: 'chats', provides: ['picker'] }));
      const pipeline = await workshop.build(
        alternatives(
          '{ use: slot-pick, name: off, enabled: false }',
          '{ use: ./chats.js, when: { format: messages } }',
          'slot-pick',
        ),
      );
      expect(await stagesOf(pipeline, {}))
        .to.include('chats')
        .and.not.include.members(['slot-pick', 'off']);
      const count = { operation: 'count-tokens' };
      expect(await stagesOf(pipeline, count))
        .to.include('slot-pick')
        .and.not.include('lists');
    });

    it('blames a fault on the alternative that had it', async () => {
      await workshop.write(
        'fails.js',
        moduleText({ name: 'fails' }).replace('await next()', 'throw new Error("mine")'),
      );
      const pipeline = await workshop.build(
        list(...whole.slice(0, -1), `format-encode\n  - oneOf: [{ use: ./fails.js, name: broken }]`),
      );
      const trace = new RequestTrace(Date.now);
      const error = await walk(pipeline, { trace }).catch((thrown: unknown) => thrown);
      expect(trace.blamed(error)).to.include({ stage: 'broken', path: 'pipeline[8].oneOf[0]' });
    });

    it('shows them as alternatives of their entry', async () => {
      const text = alternatives(
        '{ use: slot-pick, name: for-red, when: { header: { x-team: [red, blue] }, not: { stream: true } } }',
        '{ use: slot-pick, name: off, enabled: false, when: { sample: 0.5% } }',
        'slot-pick',
      );
      const pipeline = await workshop.build(text);
      expect(describePipeline(workshop.config(text), pipeline).split('\n').slice(7, 11)).to.deep.equal([
        '  one of',
        '    for-red (slot-pick)  request caller -> picker                      for generate count-tokens; when header x-team is red or blue, not (stream is true)',
        '    off (slot-pick)      off',
        '    slot-pick            request caller -> picker                      for generate count-tokens',
      ]);
      const shown = pipeline.stages
        .slice(4, 7)
        .map(({ group, path, conditions }) => [group, path, ...conditions]);
      expect(shown).to.deep.equal([
        ['pipeline[4]', 'pipeline[4].oneOf[0]', 'header x-team is red or blue', 'not (stream is true)'],
        ['pipeline[4]', 'pipeline[4].oneOf[1]', 'sample is 0.5%'],
        ['pipeline[4]', 'pipeline[4].oneOf[2]'],
      ]);
    });
  });

  it('names an entry by its own name in what it logs and registers', async () => {
    await setUp(
      workshop,
      'one',
      'host.onDispose(() => { host.log.info({}, "gone"); throw new Error("stuck"); });',
    );
    const pipeline = await workshop.build(list('./one.js\n    name: mine', ...whole));
    expect(pipeline.stages[0]).to.include({ name: 'mine', use: './one.js' });
    await pipeline.retire();
    expect(workshop.logged).to.deep.equal([
      'info: gone {"stage":"mine"}',
      'error: A stage could not be disposed. {"stage":"mine","problem":"gateway.yaml:2:5 pipeline[0] \\"mine\\" cannot be disposed: stuck","err":{}}',
    ]);
  });

  describe('at its end', () => {
    it('disposes its stages after the last request has left, last set up first', async () => {
      await setUp(
        workshop,
        'one',
        'host.onDispose(() => host.log.info({}, "one")); host.onDispose(async () => { await null; host.log.info({}, "two"); });',
      );
      await setUp(workshop, 'three', 'host.onDispose(() => host.log.info({}, "three"));');
      const pipeline = await workshop.build(list('./one.js', './three.js', ...whole));
      pipeline.enter();
      pipeline.enter();
      const retired = pipeline.retire();
      pipeline.leave();
      await settled();
      expect(workshop.logged).to.deep.equal([]);
      pipeline.leave();
      await retired;
      expect(workshop.logged).to.deep.equal([
        'info: three {"stage":"three"}',
        'info: two {"stage":"one"}',
        'info: one {"stage":"one"}',
      ]);
    });

    it('disposes at once where no request is inside, and only once', async () => {
      await setUp(workshop, 'one', 'host.onDispose(() => host.log.info({}, "gone"));');
      const pipeline = await workshop.build(list('./one.js', ...whole));
      pipeline.enter();
      pipeline.leave();
      await Promise.all([pipeline.retire(), pipeline.retire()]);
      expect(workshop.logged).to.have.length(1);
    });

    it('logs what fails and goes on', async () => {
      await setUp(workshop, 'one', 'host.onDispose(() => host.log.info({}, "gone"));');
      await setUp(workshop, 'two', 'host.onDispose(() => { throw new Error("stuck"); });');
      const pipeline = await workshop.build(list('./one.js', './two.js', ...whole));
      await pipeline.retire();
      expect(workshop.logged).to.deep.equal([
        'error: A stage could not be disposed. {"stage":"two","problem":"gateway.yaml:3:5 pipeline[1] \\"two\\" cannot be disposed: stuck","err":{}}',
        'info: gone {"stage":"one"}',
      ]);
    });

    it('undoes what was set up where another stage could not be', async () => {
      await setUp(workshop, 'one', 'host.onDispose(() => host.log.info({}, "undone"));');
      await setUp(workshop, 'two', 'throw new Error("no such region");');
      await setUp(workshop, 'three', 'throw new Error("no key");');
      expect(await workshop.problems(list('./one.js', './two.js', './three.js', ...whole))).to.deep.equal([
        'gateway.yaml:3:5 pipeline[1] "two" cannot be set up: no such region',
        'gateway.yaml:4:5 pipeline[2] "three" cannot be set up: no key',
      ]);
      expect(workshop.logged).to.deep.equal(['info: undone {"stage":"one"}']);
    });
  });

  it('lets a stage register a policy for the stages below, in this pipeline alone', async () => {
    await workshop.write(
      'mine.js',
      moduleText({ name: 'mine' }, 'host.policies.register("last", () => (all) => all.at(-1));'),
    );
    await workshop.write(
      'ask.js',
      moduleText({ name: 'ask' }, 'host.log.info({ pick: host.policies.get("last")([1, 2]) }, "picked");'),
    );
    await workshop.build(list('./mine.js', './ask.js', ...whole));
    expect(workshop.logged).to.deep.equal(['info: picked {"stage":"ask","pick":2}']);
    expect(await workshop.problems(list('./ask.js', ...whole))).to.deep.equal([
      'gateway.yaml:2:5 pipeline[0] "ask" cannot be set up: unknown policy "last"; known policies: first',
    ]);
  });

  it('is told in words as it will run', async () => {
    const text = list(
      'auth',
      'body-limit',
      './redact.js\n    enabled: false',
      ...whole.slice(2, 3),
      'max-tokens\n    when: { format: [chat, responses], model: "sonnet-*" }',
      ...whole.slice(4),
    );
    const pipeline = await workshop.build(text);
    expect(describePipeline(workshop.config(text), pipeline)).to.equal(checked);
  });

  it('tells of a stage behind which a request may not begin with the one before', async () => {
    await workshop.write('dated.js', moduleText({ name: 'dated', keepsPrefix: false }));
    const text = list('./dated.js', ...whole);
    const pipeline = await workshop.build(text);
    const [row] = describePipeline(workshop.config(text), pipeline).split('\n').slice(3);
    expect(row).to.match(/^  dated \(.\/dated.js\) +may lose prompt caches$/);
    expect(pipeline.stages.filter(({ keepsPrefix }) => !keepsPrefix)).to.have.length(1);
  });

  it('asks a stage by its options whether it keeps the beginning of requests', async () => {
    const options = '{ type: "object", properties: { edits: { type: "boolean", default: true } } }';
    await workshop.write(
      'edits.js',
      `export default { name: 'edits', keepsPrefix: ({ edits }) => !edits, options: ${options},
        setup: () => (ctx, next) => next() };`,
    );
    const text = list('./edits.js', './edits.js\n    name: reads\n    with: { edits: false }', ...whole);
    const { stages } = await workshop.build(text);
    expect(stages.slice(0, 2).map(({ keepsPrefix }) => keepsPrefix)).to.deep.equal([false, true]);
  });
});

/** A pipeline whose max-tokens has a `when`; its catalog knows `sonnet-5` alone, with an alias. */
function conditional(workshop: Workshop, when: string): Promise<Pipeline> {
  const text = list(...whole.slice(0, 3), `max-tokens\n    when: ${when}`, ...whole.slice(4));
  return workshop.build(text, { models: fakeModels({ id: 'sonnet-5', aliases: ['sonnet'] }) });
}

async function passes(pipeline: Pipeline, state: object, headers: object = {}): Promise<boolean> {
  return (await stagesOf(pipeline, state, headers)).includes('max-tokens');
}

/** A pipeline that has alternatives in place of slot-pick. */
function alternatives(...entries: readonly string[]): string {
  const lines = entries.map((one) => `\n      - ${one.startsWith('{') ? one : `use: ${one}`}`);
  return list(...whole.slice(0, 3), `max-tokens\n  - oneOf:${lines.join('')}`, ...whole.slice(5));
}

function request(model: string): object {
  return { request: { model, messages: [] } };
}

function caller(keyId: string, name: string): object {
  return { caller: { kind: 'key', keyId, name } };
}

/** A plugin of this name beside the config. */
function setUp(workshop: Workshop, name: string, setup: string): Promise<void> {
  return workshop.write(`${name}.js`, moduleText({ name }, setup));
}

/** The names of the plugins that a request passes. */
async function trail(pipeline: Pipeline, state: object): Promise<readonly string[]> {
  const names: string[] = [];
  await walk(pipeline, { trail: names, ...state });
  return names;
}

/** The names of the stages that a request passes, as its trace has them. */
async function stagesOf(pipeline: Pipeline, state: object, headers: object = {}): Promise<readonly string[]> {
  const trace = new RequestTrace(Date.now);
  await walk(pipeline, { trace, ...state }, headers);
  return trace.stages.map(({ stage }) => stage);
}

async function walk(pipeline: Pipeline, state: object, headers: object = {}): Promise<void> {
  const basics = {
    operation: 'generate',
    format: 'messages',
    requestId: 'r',
    trace: new RequestTrace(Date.now),
  };
  const ctx = { state: { ...basics, ...state }, headers };
  const { operation } = ctx.state as { operation: 'generate' };
  const middleware = pipeline.middlewareFor(operation);
  await middleware(ctx as unknown as Parameters<typeof middleware>[0], async () => undefined);
}

/** All that could happen without anything from outside has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

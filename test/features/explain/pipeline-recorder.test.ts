import { expect } from 'chai';
import { EventStream, GatewayError, wrapCall } from '#src/plugin/index.js';
import { noInterceptors } from '#src/plugin/stage/interceptors.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';
import { PipelineRecorder } from '#src/features/explain/recording/pipeline-recorder.js';
import type { ExplainedStage } from '#src/features/explain/explanation.js';
import { list, Workshop } from '../../engine/pipeline/workshop.js';
import { textEvents } from './events.js';

describe('the record of a request’s way', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
  });
  afterEach(() => workshop.close());

  it('has what each stage changes in the request, and nothing for one that changes nothing', async () => {
    const stages = await way({
      first: 'ctx.state.request = { ...ctx.state.request, max_tokens: 5 }; await next();',
      second: 'await next();',
      inPlace: 'ctx.state.request.messages[0].content = "ho"; await next();',
    });
    expect(stages.map(({ request }) => request.changes)).to.deep.equal([
      [{ path: 'max_tokens', after: 5 }],
      [],
      [{ path: 'messages[0].content', before: 'hi', after: 'ho' }],
    ]);
    expect(stages.map(({ result }) => result)).to.deep.equal(['passed', 'passed', 'passed']);
  });

  it('has keys of the state with small values, and of objects that it does not know no value', async () => {
    const [stage] = await way({
      only: 'Object.assign(ctx.state, { delivery: "stream", mine: { token: "secret" }, mark: "secret" }); await next();',
    });
    expect(stage!.state).to.deep.equal([
      { key: 'delivery', change: 'set', value: 'stream' },
      { key: 'mine', change: 'set' },
      { key: 'mark', change: 'set', value: '‹hidden, 6 characters›' },
    ]);
  });

  it('gives a change after `next` to the stage that has made it', async () => {
    const stages = await way({
      outer: 'await next(); ctx.state.delivery = "whole";',
      inner: 'ctx.state.delivery = "stream"; await next();',
    });
    expect(stages[0]!.state).to.deep.equal([{ key: 'delivery', change: 'changed', value: 'whole' }]);
    expect(stages[1]!.state).to.deep.equal([{ key: 'delivery', change: 'set', value: 'stream' }]);
  });

  it('names the stage that has answered, and those below that were not reached', async () => {
    const stages = await way({ first: 'ctx.body = "no";', second: 'await next();' });
    expect(stages.map(({ result, reason }) => [result, reason?.kind])).to.deep.equal([
      ['answered', undefined],
      ['skipped', 'not-reached'],
    ]);
  });

  it('has an error with the stage that has thrown it, and one that was caught with the one that did', async () => {
    const stages = await way({
      catches: 'await next().catch(() => undefined);',
      passesOn: 'await next();',
      throws: 'throw new Error("broken");',
    });
    expect(stages[0]).to.deep.include({ result: 'passed', caught: { code: 'internal', message: 'broken' } });
    expect(stages[1]).to.have.property('result', 'passed');
    expect(stages[2]).to.deep.include({ result: 'failed', error: { code: 'internal', message: 'broken' } });
  });

  it('says why a stage was skipped: conditions, alternatives, its own failure, switched off', async () => {
    await stage(workshop, 'plain', 'await next();');
    await stage(workshop, 'broken', 'throw new Error("broken");');
    const stages = await pass(
      workshop,
      `pipeline:
  - { use: ./plain.js, name: off, enabled: false }
  - { use: ./plain.js, name: other, when: { format: chat, header: { x-team: red, x-tier: "*" } } }
  - oneOf:
      - { use: ./plain.js, name: not-me, when: { format: chat } }
      - { use: ./plain.js, name: me, when: { format: messages } }
      - { use: ./plain.js, name: nor-me }
  - { use: ./broken.js, onError: skip }
`,
    );
    expect(stages.map(({ result, reason }) => reason ?? result)).to.deep.equal([
      { kind: 'disabled' },
      { kind: 'when', conditions: ['format is chat', 'header x-team is red'] },
      { kind: 'when', conditions: ['format is chat'] },
      'passed',
      { kind: 'alternative', taken: 'me', path: 'pipeline[3].oneOf[1]' },
      { kind: 'error', error: { code: 'internal', message: 'broken' } },
    ]);
  });

  it('has what an interceptor changes in each call, and in the answer', async () => {
    await workshop.write(
      'asks-twice.js',
      `export default { name: 'asks-twice', requires: ['request'], intercepts: true, setup: () => ({
        async intercept(request, call) {
          await call({ ...request, max_tokens: 1 }).catch(() => undefined);
          const drop = { transform: (batch) => batch.filter(({ type }) => type !== 'ping') };
          return call(request, { through: () => drop });
        } }) };`,
    );
    let calls = 0;
    const [only] = await pass(workshop, list('./asks-twice.js'), async (state) => {
      const call = wrapCall({ state } as never, async (_, options) => {
        if ((calls += 1) === 1) throw new GatewayError('rate_limited', 'Not now.');
        const factories = [options?.through ?? []].flat();
        const events = factories.reduce(
          (stream, make) => stream.through(make()),
          EventStream.from(textEvents()),
        );
        return { status: 200, headers: {}, model: 'm', attempts: 1, events };
      });
      for await (const _ of (await call((state as { request: never }).request)).events);
    });
    const [run] = only!.interceptions;
    expect(run!.calls).to.deep.equal([
      {
        request: { changes: [{ path: 'max_tokens', after: 1 }] },
        error: { code: 'rate_limited', message: 'Not now.' },
      },
      { request: { changes: [] } },
    ]);
    expect(run!.events).to.deep.equal({
      types: { ping: [1, 0] },
      characters: [5, 5],
      textChanged: false,
      usage: {},
    });
  });

  it('has what a stage changes in the answer’s events, its text and its usage', async () => {
    await stage(workshop, 'calls', 'ctx.state.reply = ctx.state.made; await next();');
    await stage(
      workshop,
      'changes',
      `const { reply } = ctx.state;
       const upper = { transform: (batch) => batch.filter(({ type }) => type !== 'ping') };
       ctx.state.reply = { ...reply, events: reply.events.through(upper) }; await next();`,
    );
    await stage(workshop, 'reads', 'for await (const _ of ctx.state.reply.events); await next();');
    const config = list('./calls.js', './changes.js', './reads.js');
    const reply = { status: 200, headers: {}, model: 'm', attempts: 1, slot: 'a' };
    const made = { ...reply, events: EventStream.from(textEvents()) };
    const [calls, changes, reads] = await pass(workshop, config, undefined, { made });
    expect(calls!.state).to.deep.equal([
      { key: 'reply', change: 'set', value: { status: 200, model: 'm', slot: 'a', attempts: 1 } },
    ]);
    expect(changes!.events?.types).to.deep.equal({ ping: [1, 0] });
    expect(changes!.events?.textChanged).to.equal(false);
    expect(reads!).not.to.have.property('events');
  });

  it('hides what a stage that conceals has replaced', async () => {
    await workshop.write(
      'hides.js',
      `export default { name: 'hides', requires: ['request'], provides: ['request'], conceals: true, setup: () =>
        async (ctx, next) => {
          ctx.state.request = { ...ctx.state.request, messages: [{ role: 'user', content: '[EMAIL_1]' }] };
          await next();
        } };`,
    );
    const [only] = await pass(workshop, list('./hides.js'));
    expect(only!.request.changes).to.deep.equal([
      { path: 'messages[0].content', before: '‹hidden, 2 characters›', after: '[EMAIL_1]' },
    ]);
  });

  /** Way of a request through stages of these bodies. */
  async function way(bodies: Readonly<Record<string, string>>): Promise<readonly ExplainedStage[]> {
    for (const [name, body] of Object.entries(bodies)) await stage(workshop, name, body);
    return pass(workshop, list(...Object.keys(bodies).map((name) => `./${name}.js`)));
  }
});

function stage(workshop: Workshop, name: string, body: string): Promise<void> {
  return workshop.write(`${name}.js`, `export default () => async (ctx, next) => { ${body} };`);
}

/** Passes one request; `end` is what its last stage goes on to. */
async function pass(
  workshop: Workshop,
  config: string,
  end?: (state: object) => Promise<void>,
  more: object = {},
): Promise<readonly ExplainedStage[]> {
  await workshop.write('frame.js', frame);
  const framed = config.replace('pipeline:', 'pipeline:\n  - use: ./frame.js');
  const recorder = new PipelineRecorder();
  const pipeline = await workshop.build(framed, {}, { watch: recorder });
  const state = {
    requestId: 'r1',
    operation: 'generate',
    format: 'messages',
    trace: new RequestTrace(Date.now),
    interceptors: noInterceptors,
    log: { warn: () => undefined },
    request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    ...more,
  };
  const response = { get: () => '', set: () => undefined, headerSent: false };
  const ctx = { state, response, headers: { 'x-tier': 'gold' }, status: 404 };
  const middleware = pipeline.middlewareFor('generate');
  await middleware(ctx as never, async () => end?.(state)).catch(() => undefined);
  return recorder.take('r1').stages.slice(1);
}

/** Promises all that a pipeline needs, and only goes on. */
const frame = `export default {
  name: 'frame',
  provides: ['caller', 'body', 'request', 'delivery', 'picker', 'reply', 'response'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'route'],
  setup: () => (ctx, next) => next(),
};`;

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { ask, masterKey, stages } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PluginWorkshop } from './plugin-workshop.js';

/** A plugin that breaks a rule in a request, and what is told of it. */
interface Fault {
  readonly does: string;
  /** The stage's middleware, or all that its setup returns. */
  readonly made: string;
  /** More of its definition. */
  readonly keys?: string;
  readonly setup?: string;
  readonly entry?: object;
  /** What the caller gets; default: 500, with the stage's name and the request's id. */
  readonly answer?: object;
  /** Message of the error in the log. */
  readonly cause: RegExp;
  /** True for a fault that is found with GW_STRICT=1. */
  readonly isStrict?: true;
}

const never = 'new Promise(() => undefined)';
const passes = '(ctx, next) => next()';
const keyed = (...names: readonly string[]) => {
  const list = JSON.stringify(names);
  return `requires: ${list}, provides: ${list},`;
};
const setsRequest = (value: string) => `async (ctx, next) => { ctx.state.request = ${value}; await next(); }`;

const unanswered = 'The stage "faulty" ended request req-1 without an answer';
const unawaited = 'called next() without waiting for it; write "await next()" or "return next()"';

const faults: readonly Fault[] = [
  { does: 'throws', made: `() => { throw new Error('mine'); }`, cause: /^mine$/ },
  { does: 'rejects', made: `async () => { throw new Error('mine'); }`, cause: /^mine$/ },
  {
    does: 'throws after next',
    made: `async (ctx, next) => { await next(); throw new Error('mine'); }`,
    cause: /^mine$/,
  },
  {
    does: 'throws in place of what another threw',
    made: `(ctx, next) => next().finally(() => { throw new Error('mine'); })`,
    cause: /^mine$/,
  },
  {
    does: 'calls what there is not',
    made: `(ctx) => ctx.state.nothing.at.all`,
    cause: /^Cannot read properties of undefined/,
  },
  {
    does: 'calls next twice',
    made: `async (ctx, next) => { await next(); await next(); }`,
    cause: /^next\(\) called multiple times$/,
  },
  {
    does: 'neither calls next nor answers',
    made: `async () => undefined`,
    answer: { status: 500, message: `${unanswered}.` },
    cause: /^The stage "faulty" ended request req-1 without an answer\.$/,
  },
  {
    does: 'does not wait for next',
    made: `(ctx, next) => { next().catch(() => undefined); }`,
    answer: { status: 500, message: `${unanswered}: it ${unawaited}.` },
    cause: /without waiting for it/,
  },
  {
    does: 'lacks an await in an async function',
    made: `async (ctx, next) => { next().catch(() => undefined); ctx.state.log.info({}, 'on'); }`,
    answer: { status: 500, message: `${unanswered}: it ${unawaited}.` },
    cause: /without waiting for it/,
  },
  {
    does: 'loses the error of what is below it',
    made: `async (ctx, next) => { ctx.state.request = undefined; await next().catch(() => undefined); }`,
    keys: keyed('request'),
    answer: {
      status: 500,
      message: `${unanswered}: an error of its next() was lost; write "await next()", and rethrow what it throws.`,
    },
    cause: /was lost/,
  },
  {
    does: 'hangs, with a timeout',
    made: `() => ${never}`,
    entry: { timeout: '50ms' },
    cause: /^It did not call next within its timeout of 0\.05 s\.$/,
  },
  {
    does: 'adds to a metric what it has no label for',
    setup: `const counter = host.metrics.counter('faulty_total', 'Faults.', ['kind']);`,
    made: `(ctx, next) => { counter.add({ other: 'x' }); return next(); }`,
    cause: /^The metric "faulty_total" has no label "other"\.$/,
  },
  {
    does: 'counts what is no number',
    setup: `const counter = host.metrics.counter('faulty_total', 'Faults.', []);`,
    made: `(ctx, next) => { counter.add({}, -1); return next(); }`,
    cause: /^The metric "faulty_total" cannot take -1\.$/,
  },
  {
    does: 'throws in its intercept',
    keys: 'intercepts: true,',
    made: `{ intercept: async () => { throw new Error('mine'); } }`,
    cause: /^mine$/,
  },
  {
    does: 'hangs in its intercept, with a timeout',
    keys: 'intercepts: true,',
    entry: { timeout: '50ms' },
    made: `{ intercept: () => ${never} }`,
    cause: /^Its intercept returned no reply within its timeout/,
  },
  {
    does: 'intercepts with no reply',
    keys: 'intercepts: true,',
    made: `{ intercept: async () => undefined }`,
    cause: /^intercept returned undefined instead of a reply/,
  },
  {
    does: 'intercepts with half a reply',
    keys: 'intercepts: true,',
    made: `{ intercept: async () => ({ status: 200 }) }`,
    cause: /^intercept returned a reply whose headers/,
  },
  {
    does: 'leaves a request that is none',
    keys: keyed('request'),
    made: setsRequest('5'),
    isStrict: true,
    cause: /ctx\.state\.request that is number, not an object/,
  },
  {
    does: 'leaves messages that are a text',
    keys: keyed('request'),
    made: setsRequest(`{ ...ctx.state.request, messages: 'Hi' }`),
    isStrict: true,
    cause: /ctx\.state\.request that has an invalid messages/,
  },
  {
    does: 'leaves a request that holds itself',
    keys: keyed('request'),
    made: setsRequest(
      `(() => { const own = { ...ctx.state.request }; own.metadata = { own }; return own; })()`,
    ),
    isStrict: true,
    cause: /^The stage leaves a ctx\.state\.request that is not JSON: Converting circular structure/,
  },
  {
    does: 'leaves a wrong message',
    keys: keyed('request'),
    made: setsRequest(`{ ...ctx.state.request, messages: [{ role: 'user' }] }`),
    isStrict: true,
    cause: /has an invalid messages\[0\]/,
  },
  {
    does: 'writes into the request',
    keys: keyed('request'),
    made: `(ctx, next) => { ctx.state.request.messages.push({}); return next(); }`,
    isStrict: true,
    cause: /object is not extensible/,
  },
  {
    does: 'sets a key that it has not declared',
    made: setsRequest(`{}`),
    isStrict: true,
    cause: /sets ctx\.state\.request, which it does not declare; add "request" to its provides/,
  },
  {
    does: 'reads a key that it has not declared',
    made: `(ctx, next) => { ctx.state.caller.name; return next(); }`,
    isStrict: true,
    cause: /reads ctx\.state\.caller, which it does not declare; add "caller" to its requires/,
  },
  {
    does: 'takes the caller away',
    keys: keyed('caller'),
    made: `(ctx, next) => { ctx.state.caller = null; return next(); }`,
    isStrict: true,
    cause: /ctx\.state\.caller that is null, not an object/,
  },
  {
    does: 'leaves none of what it provides',
    keys: keyed('caller'),
    made: `(ctx, next) => { delete ctx.state.caller; return next(); }`,
    isStrict: true,
    cause: /^The stage "faulty" provides "caller", but left none\.$/,
  },
  {
    does: 'freezes the state',
    made: `(ctx, next) => { Object.freeze(ctx.state); return next(); }`,
    isStrict: true,
    cause: /preventExtensions|trap/,
  },
];

describe('a faulty plugin', () => {
  const shop = new PluginWorkshop();
  afterEach(() => shop.end());

  const id = { 'x-request-id': 'req-1' };
  const place = { stage: 'faulty', path: 'pipeline[3]' };

  async function start({ made, keys = '', setup = '', entry = {}, isStrict }: Omit<Fault, 'does' | 'cause'>) {
    const text = `export default { name: 'faulty', ${keys} setup(options, host) { ${setup} return ${made}; } };`;
    const pipeline = stages().toSpliced(3, 0, { use: './faulty.js', ...entry });
    await shop.start(pipeline, { 'faulty.js': text }, [{}], isStrict ? { GW_STRICT: '1' } : {});
  }

  const failed = { status: 500, message: 'The stage "faulty" failed on request req-1; see the log.' };
  const line = (message: string) => shop.under.logged.find(({ msg }) => msg === message);

  for (const { does, answer = failed, cause, ...fault } of faults)
    it(`that ${does} is named to the caller and in the log`, async () => {
      await start(fault);
      shop.upstream.next().then(
        (call) => call.finish(),
        () => undefined,
      );
      const error = await errorIn(await shop.under.post('/v1/messages', ask('Hi'), id));
      expect(error).to.include({ ...answer, code: 'internal' });
      const { err, at, ...fields } = line('The gateway failed.')!;
      expect(fields).to.include({ ...place, id: 'req-1', level: 'error' });
      expect(at).to.match(/\/gateway\.yaml:1:\d+$/);
      expect((err as Error).message).to.match(cause);
      await shop.under.gateway.exchanges.idle();
      expect(shop.under.gateway.services.slots.list().map(({ inFlight }) => inFlight)).to.deep.equal([0]);
    });

  const spoils = {
    'sets a request': {
      keys: keyed('request'),
      made: setsRequest(`{ ...ctx.state.request, messages: 'Hi' }`),
    },
    'calls with a request': {
      keys: 'intercepts: true,',
      made: `{ intercept: (request, call) => call({ ...request, messages: 'Hi' }) }`,
    },
  };
  for (const [does, { keys, made }] of Object.entries(spoils))
    it(`that ${does} which a stage below it cannot read is named, and not that one`, async () => {
      const read = '(request) => request.messages.map(({ role }) => role)';
      const reads = `{ middleware: (ctx, next) => { (${read})(ctx.state.request); return next(); },
        intercept: (request, call) => { (${read})(request); return call(request); } }`;
      const text = (name: string, definition: string, setup: string) =>
        `export default { name: '${name}', ${definition} setup: () => (${setup}) };`;
      const files = {
        'faulty.js': text('faulty', keys, made),
        'reader.js': text('reader', `intercepts: true, requires: ['request'],`, reads),
      };
      await shop.start(stages().toSpliced(3, 0, { use: './faulty.js' }, { use: './reader.js' }), files);
      expect(await errorIn(await shop.under.post('/v1/messages', ask('Hi'), id))).to.include(failed);
      expect(line('The gateway failed.')).to.include(place);
    });

  const hanging = {
    'that hangs': { made: `() => { globalThis.hung?.(); return ${never}; }` },
    'whose interceptor hangs': {
      keys: 'intercepts: true,',
      made: `({ intercept() { globalThis.hung?.(); return ${never}; } })`,
    },
  };
  for (const [what, fault] of Object.entries(hanging))
    it(`${what} is named with its time in the line of a request whose caller has left`, async () => {
      await start({ setup: 'globalThis.hung = undefined;', ...fault });
      const reached = new Promise<void>((resolve) => Object.assign(globalThis, { hung: resolve }));
      const socket = connect(Number(new URL(shop.under.url).port), '127.0.0.1');
      await once(socket, 'connect');
      const body = JSON.stringify(ask('Hi'));
      socket.write(
        `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${masterKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      await reached;
      socket.destroy();
      await shop.under.gateway.exchanges.idle();
      Reflect.deleteProperty(globalThis, 'hung');
      const request = line('request')!;
      expect(request).to.include({ outcome: 'abandoned', stage: 'faulty' });
      expect(request['stageMs']).to.be.a('number');
    });

  interface StreamFault {
    /** A transform of the reply's events. */
    readonly transform: string;
    readonly cause: RegExp;
    /** True where a line of the plugin's file is known. */
    readonly hasLine?: true;
    /** True for a fault that is found with GW_STRICT=1. */
    readonly isStrict?: true;
  }

  const streamFaults: Readonly<Record<string, StreamFault>> = {
    'throws in a transform': {
      transform: `() => { throw new Error('mine'); }`,
      cause: /^mine$/,
      hasLine: true,
    },
    'makes a number of a batch': {
      transform: `() => 5`,
      cause: /^A transform returned a number instead of a list of events\.$/,
    },
    'has an async transform': {
      transform: `async (batch) => batch`,
      cause: /^A transform returned a promise instead of a list of events; .*EventStream\.from/,
    },
    'gives bare JSON in place of events': {
      transform: `(batch) => batch.map(({ json }) => json)`,
      cause:
        /^A transform returned a list whose first item is not a ModelEvent; ModelEvent\.of\(…\) makes one\.$/,
    },
    'gives something else in place of an event': {
      transform: `(batch) => [...batch, { nonsense: 1 }]`,
      isStrict: true,
      cause: /^The stage returned \{"nonsense":1\} among its events; ModelEvent\.of\(…\) makes one\.$/,
    },
    'makes an event of something else': {
      transform: `(batch) => batch.map(() => ModelEvent.of({ nonsense: 1 }))`,
      isStrict: true,
      cause: /^The stage returned \{"nonsense":1\} among its events/,
    },
    'forgets to return its events': {
      transform: `(batch) => { batch.map((event) => event); }`,
      isStrict: true,
      cause: /^The stage ended an answer without message_stop; does its transform return the events\?$/,
    },
  };

  /** Starts a pipeline with the stage right below upstream-call, and one below it that reads all events. */
  async function startBroken(transform: string, isStrict = false): Promise<void> {
    const events = `ctx.state.reply.events.through({ transform: ${transform} })`;
    const made = `async (ctx, next) => { ctx.state.reply = { ...ctx.state.reply, events: ${events} }; await next(); }`;
    const text = `import { ModelEvent } from '@gw2api/gateway/plugin';
      export default { name: 'faulty', ${keyed('reply')} setup: () => ${made} };`;
    const at = stages().findIndex((entry) => (entry as { use: string }).use === 'upstream-call') + 1;
    const pipeline = stages().toSpliced(at, 0, { use: './faulty.js' });
    await shop.start(pipeline, { 'faulty.js': text }, [{}], isStrict ? { GW_STRICT: '1' } : {});
  }

  for (const [does, { transform, cause, hasLine, isStrict }] of Object.entries(streamFaults)) {
    const logged = () => {
      const { err, plugin, ...fields } = line('The gateway failed.')!;
      expect(fields).to.include({ stage: 'faulty', code: 'internal', id: 'req-1' });
      expect((err as Error).message).to.match(cause);
      if (hasLine) expect(plugin).to.match(/\/faulty\.js:\d+:\d+$/);
    };

    it(`that ${does} is named, and a stream ends with an error`, async () => {
      await startBroken(transform, isStrict);
      const response = await shop.answered(ask('Hi', { stream: true }), id);
      expect(await response.text())
        .to.include('event: error')
        .and.not.include('mine');
      await shop.under.gateway.exchanges.idle();
      logged();
    });

    it(`that ${does} is named where the answer is sent whole`, async () => {
      await startBroken(transform, isStrict);
      expect(await errorIn(await shop.answered(ask('Hi'), id))).to.include({ ...failed, code: 'internal' });
      logged();
    });
  }

  it('that yields what is no batch is named, also where a reader without transforms meets it', async () => {
    const batches = `(async function* () { for await (const batch of reply.events) yield batch.length; })()`;
    const made = `async (ctx, next) => {
      const { reply } = ctx.state;
      ctx.state.reply = { ...reply, events: EventStream.from(${batches}) };
      await next();
    }`;
    const text = `import { EventStream } from '@gw2api/gateway/plugin';
      export default { name: 'faulty', ${keyed('reply')} setup: () => ${made} };`;
    const at = stages().findIndex((entry) => (entry as { use: string }).use === 'format-encode');
    await shop.start(stages().toSpliced(at, 0, { use: './faulty.js' }), { 'faulty.js': text });
    expect(await errorIn(await shop.answered(ask('Hi'), id))).to.include(failed);
    const { err, stage } = line('The gateway failed.')!;
    expect(stage).to.equal('faulty');
    expect((err as Error).message).to.match(/^A transform returned a number instead of a list of events\.$/);
  });

  it('whose interceptor breaks the stream of its reply is named', async () => {
    const intercept = `async (request, call) => {
      const reply = await call(request);
      return { ...reply, events: reply.events.through({ transform() { throw new Error('mine'); } }) };
    }`;
    await start({ keys: 'intercepts: true,', made: `{ intercept: ${intercept} }` });
    expect(await errorIn(await shop.answered(ask('Hi'), id))).to.include(failed);
    expect(line('The gateway failed.')).to.include({ stage: 'faulty' });
  });

  it('is not blamed for an upstream that breaks off below it', async () => {
    await startBroken(`(batch) => batch`);
    const response = shop.under.post('/v1/messages', ask('Hi', { stream: true }), id);
    const call = await shop.upstream.next();
    const answer = await response;
    call.breakOff();
    expect(await answer.text()).to.include('event: error');
    await shop.under.gateway.exchanges.idle();
    expect(shop.under.logged.filter(({ stage }) => stage === 'faulty')).to.deep.equal([]);
  });

  it('that throws in onSettled is named by its file, and nothing of the request is lost', async () => {
    await start({
      made: `(ctx, next) => { ctx.state.onSettled(() => { throw new Error('mine'); }); return next(); }`,
    });
    const response = await shop.answered(ask('Hi'), id);
    expect(response.status).to.equal(200);
    await response.text();
    await shop.under.gateway.exchanges.idle();
    expect(line('A listener of onSettled failed.')!['plugin']).to.match(/\/faulty\.js:\d+:\d+$/);
    expect(line('request')).to.include({ status: 200, outcome: 'completed' });
  });

  for (const [does, text] of Object.entries({
    throws: `host.onDispose(() => { throw new Error('mine'); }); return ${passes};`,
    rejects: `return { middleware: ${passes}, dispose: async () => { throw new Error('mine'); } };`,
  }))
    it(`that ${does} when it is disposed is named in the log`, async () => {
      await shop.start([{ use: './faulty.js' }, ...stages()], {
        'faulty.js': `export default { name: 'faulty', setup(options, host) { ${text} } };`,
      });
      const [problem] = await shop.under.gateway.runtime.pipeline.retire();
      expect(problem).to.include({
        path: 'pipeline[0]',
        subject: 'faulty',
        message: 'cannot be disposed: mine',
      });
      expect(line('A stage could not be disposed.')).to.include({ stage: 'faulty' });
    });

  const refusals: Readonly<Record<string, readonly [text: string, says: string]>> = {
    'throws in setup': [
      `export default { name: 'faulty', setup() { throw new Error('mine'); } };`,
      'cannot be set up: mine',
    ],
    'sets up nothing': [
      `export default { name: 'faulty', setup() {} };`,
      'cannot be set up: returned undefined',
    ],
    'throws in start': [
      `export default { name: 'faulty', setup: () => ({ start() { throw new Error('mine'); } }) };`,
      'cannot be started: mine',
    ],
    'names a metric as none may be named': [
      `export default { name: 'faulty', setup: (_, { metrics }) => metrics.counter('a b', '', []) };`,
      '"a b" is not a valid metric name',
    ],
    'counts under the name of a metric of the gateway': [
      `export default { name: 'faulty', setup: (_, { metrics }) => metrics.counter('gw2api_requests_total', '', []) };`,
      '"gw2api_requests_total" is reserved for metrics of the gateway; use another prefix than gw2api_',
    ],
    'registers a policy under the name of one of the gateway': [
      `export default { name: 'faulty', setup: (_, { policies }) => policies.register('least-loaded', () => () => undefined) };`,
      '"least-loaded" is a policy of the gateway; register yours under another name',
    ],
    'requires what nobody provides': [
      `export default { name: 'faulty', requires: ['tenant'], setup: () => ${passes} };`,
      'needs "tenant", which no stage provides',
    ],
    'intercepts below the call': [
      `export default { name: 'faulty', intercepts: true, setup: () => ({ intercept: (request, call) => call(request) }) };`,
      'intercepts the call of the model',
    ],
  };
  for (const [does, [text, says]] of Object.entries(refusals))
    it(`that ${does} is a problem of the config, with its line`, async () => {
      const error: unknown = await shop
        .start([...stages(), { use: './faulty.js' }], { 'faulty.js': text })
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.an.instanceof(ConfigError);
      const { path, at, message } = (error as ConfigError).problems[0]!;
      expect(path).to.equal('pipeline[13]');
      expect(at.line).to.equal(1);
      expect(message).to.include(says);
    });
});

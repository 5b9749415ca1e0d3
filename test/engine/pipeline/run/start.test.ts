import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { Workshop, list, whole } from '../workshop.js';

const tells = (name: string) => `export default { name: '${name}', setup: (_, { log }) => ({
  start: async () => log.info({}, 'started'),
  dispose: () => log.info({}, 'disposed'),
}) };`;

describe('a stage of several parts', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
  });
  afterEach(() => workshop.close());

  const options = { timeoutMs: 500 };

  async function refused(...stages: readonly string[]): Promise<readonly string[]> {
    const pipeline = await workshop.build(list(...stages, ...whole), {}, options);
    const error: unknown = await pipeline.start().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof ConfigError ? error.message.split('\n') : [];
  }

  it('starts once all are set up, and is disposed when the pipeline has ended', async () => {
    await workshop.write('good.js', tells('good'));
    const sets = `export default { name: 'below', setup: (_, { log }) => { log.info({}, 'set up'); return {}; } };`;
    await workshop.write('below.js', sets);
    const pipeline = await workshop.build(list('./good.js', './below.js', ...whole), {}, options);
    const setUp = 'info: set up {"stage":"below"}';
    expect(workshop.logged).to.deep.equal([setUp]);
    await pipeline.start();
    await pipeline.retire();
    const good = ['info: started {"stage":"good"}', 'info: disposed {"stage":"good"}'];
    expect(workshop.logged).to.deep.equal([setUp, ...good]);
  });

  it('keeps its methods where it is of a class', async () => {
    const text = `class Counted {
      #started = 0;
      start() { this.#started += 1; }
      async middleware(ctx, next) { ctx.state.started = this.#started; await next(); }
    }
    export default { name: 'counted', setup: () => new Counted() };`;
    await workshop.write('counted.js', text);
    const pipeline = await workshop.build(list('./counted.js', ...whole), {}, options);
    await pipeline.start();
    const state = { trace: { enter: () => ({}), leave: () => undefined }, started: 0 };
    await pipeline.middlewareFor('generate')({ state } as never, async () => undefined);
    expect(state.started).to.equal(1);
  });

  it('is named with its line if it does not start, and all are disposed', async () => {
    await workshop.write('good.js', tells('good'));
    await workshop.write(
      'hangs.js',
      `export default { name: 'hangs', setup: () => ({ start: () => new Promise(() => undefined) }) };`,
    );
    await workshop.write(
      'fails.js',
      `export default { name: 'fails', setup: () => ({ start() { throw new Error('no such host'); } }) };`,
    );
    expect(await refused('./good.js', './hangs.js', './fails.js')).to.deep.equal([
      'gateway.yaml:3:5 pipeline[1] "hangs" did not start within 0.5 s: its start waits for something that never happens',
      'gateway.yaml:4:5 pipeline[2] "fails" cannot be started: no such host',
    ]);
    expect(workshop.logged.at(-1)).to.equal('info: disposed {"stage":"good"}');
  });

  it('is refused for a slip of its code with the position in its file, in setup and in start', async () => {
    await workshop.write('sets.js', `export default { name: 'sets', setup: ({ a }) => a.b };`);
    await workshop.write(
      'starts.js',
      `export default { name: 'starts', setup: () => ({ start() { missing(); } }) };`,
    );
    const [set] = await workshop.problems(list('./sets.js', ...whole));
    expect(set).to.equal(
      `gateway.yaml:2:5 pipeline[0] "sets" cannot be set up: Cannot read properties of undefined (reading 'b') (sets.js:1:52)`,
    );
    expect(await refused('./starts.js')).to.deep.equal([
      `gateway.yaml:2:5 pipeline[0] "starts" cannot be started: missing is not defined (${workshop.dir}/starts.js:1:60)`,
    ]);
  });

  for (const [made, says] of [
    ['undefined', 'returned undefined'],
    ['[]', 'returned a list'],
    ['{ strat() {} }', 'returned an object with "strat" (did you mean "start"?)'],
    ['{ start: 5 }', 'returned 5 as "start"'],
  ] as const)
    it(`is refused for what it is not: ${made}`, async () => {
      await workshop.write('bad.js', `export default { name: 'bad', setup: () => (${made}) };`);
      const [problem] = await workshop.problems(list('./bad.js', ...whole));
      expect(problem).to.match(/^gateway.yaml:2:5 pipeline\[0\] "bad" cannot be set up: returned /);
      expect(problem).to.include(`${says}; its setup must return a middleware, or an object of middleware, `);
    });
});

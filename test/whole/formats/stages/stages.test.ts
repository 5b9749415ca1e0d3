import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';

/** Bodies of a middleware, and the status that a request then gets. */
const middlewares: Readonly<Record<string, readonly [body: string, status: number]>> = {
  'that neither calls next nor answers': ['async () => {}', 500],
  'that calls next twice': ['async (_, next) => { await next(); await next(); }', 500],
  'that throws a string': ['async () => { throw "no"; }', 500],
  'that throws nothing at all': ['async () => { throw undefined; }', 500],
  'that fails after the answer is there': [
    'async (_, next) => { await next(); throw new Error("no"); }',
    500,
  ],
  'that answers itself': ['async (ctx) => { ctx.body = { mine: true }; }', 200],
  'that answers itself without a body': ['async (ctx) => { ctx.status = 204; }', 204],
};

describe('a stage', () => {
  let dir: string;
  let pair: Pair;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw2api-'));
  });
  after(() => rm(dir, { recursive: true }));
  afterEach(() => pair.close());

  for (const [name, [middleware, status]] of Object.entries(middlewares)) {
    it(`${name} gives status ${status}, and nothing is held`, async () => {
      const file = join(dir, `${name.replaceAll(' ', '-')}.mjs`);
      await writeFile(file, `export default { name: 'mine', setup: () => ${middleware} };`);
      pair = await startPair({ pipeline: [{ use: file }, ...stages()] });
      for (const stream of [false, true]) await expectAnswer(stream, status);
      await pair.gateway.exchanges.idle();
      expect(pair.gateway.services.slots.list()[0]).to.include({ inFlight: 0, queued: 0 });
    });
  }

  async function expectAnswer(stream: boolean, status: number): Promise<void> {
    const answer = await pair.post('/v1/messages', ask('hello', { stream }));
    expect(answer.status).to.equal(status);
    const text = await answer.text();
    if (status === 500) expect(JSON.parse(text)).to.have.nested.property('error.code', 'internal');
  }
});

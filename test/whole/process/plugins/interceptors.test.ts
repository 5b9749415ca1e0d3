import { expect } from 'chai';
import { dialects, formatNames } from '../../formats/dialects.js';
import { ask, slotAt, stages, startPair, type Pair } from '../../harness.js';
import { errorIn, inFlight } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';

describe('a stage that wraps the call of the model', () => {
  const folders = new TempFolders();
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
    await folders.remove();
  });

  /** A pair with a stage above slot-pick whose `intercept` is this. */
  async function start(
    intercept: string,
    entry: object = {},
    slots: readonly object[] = [{}],
  ): Promise<Pair> {
    const code = `
      import { definePlugin } from '@gw2api/gateway/plugin';
      export default definePlugin({
        name: 'wraps', requires: ['request', 'caller'], intercepts: true,
        setup: (_, host) => ({ intercept: ${intercept} }),
      });`;
    const folder = await folders.make({ 'wraps.mjs': code });
    const own = { use: `${folder}/wraps.mjs`, ...entry };
    const pipeline = stages().flatMap((each) =>
      'use' in each && each.use === 'slot-pick' ? [own, each] : [each],
    );
    pair = await startPair({ pipeline }, {}, (url) => slots.map((settings) => slotAt(url, settings)));
    return pair;
  }

  const toHaiku = `(request, call) => call({ ...request, model: 'haiku-5' })`;
  const byModel = [{ models: ['sonnet-*'] }, { id: 'b', models: ['haiku-*'] }];

  for (const format of formatNames)
    for (const stream of [true, false])
      it(`may ask another model, in a slot that serves it: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const under = await start(toHaiku, {}, byModel);
        const { path, request, fold, whole } = dialects[format];
        const response = await under.post(path, { ...request('Hi'), stream });
        expect(response.status).to.equal(200);
        const answer = stream ? await fold(await response.text()) : whole(await response.json());
        expect(answer).to.have.property('model', 'haiku-5');
        expect(response.headers.get('x-gw-slot')).to.equal('b');
        expect(response.headers.get('x-gw-model')).to.equal('haiku-5');
        expect(response.headers.get('x-gw-attempts')).to.equal('1');
      });

  it('leaves the name of the model to the caller where that one has answered', async () => {
    const under = await start(`(request, call) => call(request)`);
    const response = await under.post('/v1/messages', ask('Hi'));
    expect(await response.json()).to.have.property('model', 'sonnet-5');
    expect(response.headers.get('x-gw-model')).to.equal('sonnet-5');
  });

  it('wraps the calls of the requests that its when holds for, and no others', async () => {
    const under = await start(toHaiku, { when: { format: ['chat'] } }, byModel);
    const models = [];
    for (const format of ['messages', 'chat'] as const) {
      const { path, request } = dialects[format];
      models.push((await under.post(path, request('Hi'))).headers.get('x-gw-model'));
    }
    expect(models).to.deep.equal(['sonnet-5', 'haiku-5']);
  });

  it('may cure that there is no slot', async () => {
    const cure = `async (request, call) => {
      try { return await call(request); }
      catch (error) { return call({ ...request, model: error.code === 'model_not_found' ? 'haiku-5' : 'none' }); }
    }`;
    const under = await start(cure, {}, [{ models: ['haiku-*'] }]);
    const response = await under.post('/v1/messages', ask('Hi'));
    expect(response.headers.get('x-gw-model')).to.equal('haiku-5');
  });

  it('is named in the log with its place where it fails, or gives no reply', async () => {
    for (const [intercept, message] of [
      [`() => { throw new TypeError('SECRET'); }`, 'SECRET'],
      [`async () => ({ status: 200 })`, 'intercept returned a reply whose headers is not an object of texts'],
    ] as const) {
      const under = await start(intercept);
      const { logged, gateway } = under;
      expect(await errorIn(await under.post('/v1/chat/completions', ask('Hi')))).to.include({
        status: 500,
        code: 'internal',
      });
      const line = logged.find(({ msg }) => msg === 'The gateway failed.');
      expect(line).to.include({ stage: 'wraps', path: 'pipeline[9]' });
      expect(line!['err']).to.have.property('message', message);
      expect(gateway.services.slots.list()[0]).to.include({ inFlight: 0 });
      await pair?.close();
    }
  });

  for (const stream of [true, false])
    it(`makes four answers in one place, one after another: ${stream ? 'streamed' : 'whole'}`, async () => {
      const under = await start(`(request, call) => call(request)`, {}, [{ maxConcurrent: 1 }]);
      const { path, request } = dialects.chat;
      const response = await under.post(path, { ...request('[[sim:tokens n=20]]'), n: 4, stream });
      expect(response.status).to.equal(200);
      expect(await response.text()).to.include('"index":3');
      expect(response.headers.get('x-gw-attempts')).to.equal('4');
      await pair!.gateway.exchanges.idle();
      expect(inFlight(pair!)).to.deep.equal([0]);
    });
});

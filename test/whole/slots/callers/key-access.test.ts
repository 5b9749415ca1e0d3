import { expect } from 'chai';
import { ask, slotAt, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, issueKey } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';

/** Sends what is asked of haiku to sonnet, before the call or around it. */
const reroute = (place: 'stage' | 'interceptor') => `export default {
  name: 'reroute',
  requires: ['request'],
  ${place === 'stage' ? "provides: ['request']," : 'intercepts: true,'}
  setup: () => ${
    place === 'stage'
      ? "async (ctx, next) => { ctx.state.request = { ...ctx.state.request, model: 'sonnet-5' }; await next(); }"
      : "({ intercept: (request, call) => call({ ...request, model: 'sonnet-5' }) })"
  },
};`;

const pickers = `export default {
  name: 'by-team',
  setup(_, host) {
    host.policies.register('by-team', () => (candidates, { caller, model, request }) =>
      candidates.find(({ id }) => id === \`\${caller.name}-\${model}-\${request.messages.length}\`));
    return (ctx, next) => next();
  },
};`;

const slots = (url: string) => [
  slotAt(url, { id: 'red-1' }),
  slotAt(url, { id: 'blue-1', account: { kind: 'api-key', key: 'upstream-key-b' } }),
  slotAt(url, {
    id: 'team-haiku-5-1',
    account: { kind: 'api-key', key: 'upstream-key-c' },
    models: ['haiku-*'],
  }),
];

describe('what a key may use', () => {
  const folders = new TempFolders();
  let pair: Pair;
  afterEach(async () => {
    await pair.close();
    await folders.remove();
  });

  async function start(entry: object, pick: object = { use: 'slot-pick' }): Promise<void> {
    const pipeline = stages().flatMap((stage) =>
      (stage as { use: string }).use === 'slot-pick' ? [entry, pick] : [stage],
    );
    pair = await startPair({ pipeline }, {}, slots);
  }

  for (const place of ['stage', 'interceptor'] as const)
    it(`holds for a model that ${place === 'stage' ? 'a stage' : 'an interceptor'} has put in place of the asked one`, async () => {
      const folder = await folders.make({ 'reroute.mjs': reroute(place) });
      await start({ use: `${folder}/reroute.mjs` });
      const headers = { 'x-api-key': await issueKey(pair, 'laptop', { models: ['haiku-*'] }) };
      const paths = place === 'stage' ? ['/v1/messages'] : ['/v1/messages', '/v1/chat/completions'];
      for (const path of paths) {
        const answer = await pair.post(path, ask('Hi', { model: 'haiku-5' }), headers);
        expect(await errorIn(answer)).to.include({
          status: 403,
          type: 'permission_error',
          code: 'forbidden',
          message: 'The key "laptop" may not use model "sonnet-5".',
        });
      }
      expect(callsTo(pair.simulator)).to.have.length(0);
      expect((await pair.post('/v1/messages', ask('Hi', { model: 'haiku-5' }))).status).to.equal(200);
    });

  it('are its slots, in every stage that picks, for counts too', async () => {
    await start(
      { use: 'tool-choice', name: 'another' },
      {
        oneOf: [
          {
            use: 'slot-pick',
            name: 'blue-only',
            when: { header: { 'x-blue': '*' } },
            with: { slots: ['blue-*'] },
          },
          { use: 'slot-pick' },
        ],
      },
    );
    const headers = { 'x-api-key': await issueKey(pair, 'laptop', { slots: ['red-*'] }) };
    for (let nth = 0; nth < 3; nth += 1) {
      const answer = await pair.post('/v1/messages', ask('Hi'), headers);
      expect(answer.headers.get('x-gw-slot')).to.equal('red-1');
    }
    const blue = { ...headers, 'x-blue': '1' };
    const refusal = {
      status: 403,
      code: 'forbidden',
      message: 'The key "laptop" may not use any slot that serves the model "sonnet-5".',
    };
    expect(await errorIn(await pair.post('/v1/messages', ask('Hi'), blue))).to.include(refusal);
    const count = ask('Hi', { max_tokens: undefined });
    expect(await errorIn(await pair.post('/v1/messages/count_tokens', count, blue))).to.include(refusal);
    const master = await pair.post('/v1/messages', ask('Hi'), { 'x-blue': '1' });
    expect(master.headers.get('x-gw-slot')).to.equal('blue-1');
  });

  it('is known to a policy, which may decline', async () => {
    const folder = await folders.make({ 'by-team.mjs': pickers });
    await start({ use: `${folder}/by-team.mjs` }, { use: 'slot-pick', with: { policy: 'by-team' } });
    const headers = { 'x-api-key': await issueKey(pair, 'team') };
    const answer = await pair.post('/v1/messages', ask('Hi', { model: 'haiku-5' }), headers);
    expect(answer.headers.get('x-gw-slot')).to.equal('team-haiku-5-1');
    expect(await errorIn(await pair.post('/v1/messages', ask('Hi'), headers))).to.include({
      status: 503,
      code: 'no_slot_available',
      message: 'The policy "by-team" picked no slot for the model "sonnet-5".',
    });
  });
});

describe('the usage windows that a key is shown', () => {
  it('are those of an account that it may use', async () => {
    const oauth = {
      kind: 'oauth',
      accessToken: 'a',
      refreshToken: 'r',
      tokenUrl: 'http://127.0.0.1:1/token',
      clientId: 'c',
    };
    const pair = await startPair({}, {}, (url) => [
      slotAt(url, { id: 'blue', account: oauth }),
      slotAt(url, { id: 'red', account: { ...oauth, refreshToken: 's' } }),
    ]);
    const headers = { 'x-api-key': await issueKey(pair, 'laptop', { slots: ['red'] }) };
    const other = { 'x-api-key': await issueKey(pair, 'desk', { slots: ['green'] }) };
    const usage = async (sent: Readonly<Record<string, string>>) => pair.get('/v1/usage', sent);
    expect(await (await usage(headers)).json()).to.include({ account: 'red' });
    expect(await (await usage({})).json()).to.include({ account: 'blue' });
    expect(await errorIn(await usage(other))).to.include({ status: 404, code: 'not_found' });
    await pair.close();
  });
});

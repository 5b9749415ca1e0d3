import { expect } from 'chai';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { issueKey } from '../../kit.js';
import { startOpenaiServer, type OpenaiServer } from '../../slots/upstreams/openai-server.js';

const slots = {
  openai: { upstream: 'chat', with: { preset: 'openai' } },
  responses: { upstream: 'responses' },
  azure: { upstream: 'chat', with: { preset: 'azure-openai' } },
  'azure, told so': { upstream: 'chat', with: { preset: 'azure-openai', promptCacheKey: true } },
  mistral: { upstream: 'chat', with: { preset: 'mistral' } },
};

const say = [{ role: 'user', content: 'Hi.' }];
const callers = {
  messages: ['/v1/messages', { max_tokens: 100, messages: say }],
  chat: ['/v1/chat/completions', { messages: say }],
  responses: ['/v1/responses', { input: 'Hi.' }],
} as const;

describe('prompt_cache_key', () => {
  let server: OpenaiServer;
  let gateway: GatewayUnderTest;
  beforeEach(async () => void (server = await startOpenaiServer()));
  afterEach(async () => {
    await gateway.close();
    await server.close();
  });

  async function open(slot: keyof typeof slots): Promise<void> {
    gateway = await startGateway({ slots: [slotAt(server.url, slots[slot])] });
  }

  async function keysOf(
    asked: readonly (readonly [caller: keyof typeof callers, session?: string, fields?: object])[],
  ) {
    const from = server.bodies.length;
    for (const [caller, session, fields] of asked) {
      const [path, body] = callers[caller];
      const headers = session === undefined ? {} : { 'x-session-id': session };
      const response = await gateway.post(path, { model: 'sonnet-5', ...body, ...fields }, headers);
      expect(response.status, await response.text()).to.equal(200);
    }
    return server.bodies.slice(from).map(({ prompt_cache_key: key }) => key);
  }

  for (const slot of ['openai', 'responses', 'azure, told so'] as const)
    it(`is sent for each session of every caller: ${slot}`, async () => {
      await open(slot);
      const [first, again, chat, responses, other, none] = await keysOf([
        ['messages', 's1'],
        ['messages', 's1', { stream: true }],
        ['chat', 's1'],
        ['responses', 's1', { stream: true }],
        ['messages', 's2'],
        ['messages'],
      ]);
      expect(first).to.be.a('string').with.length(64).and.not.include('s1');
      expect([again, chat, responses]).to.deep.equal([first, first, first]);
      expect(other).to.be.a('string').and.not.equal(first);
      expect(none).to.equal(undefined);
    });

  it('is never that of another caller, whatever the session is called', async () => {
    await open('openai');
    const keys = await Promise.all(['ann', 'bob'].map((name) => issueKey(gateway, name)));
    for (const key of keys) {
      const body = { model: 'sonnet-5', messages: say };
      await gateway.post('/v1/chat/completions', body, { 'x-api-key': key, 'x-session-id': 's1' });
    }
    const [ann, bob] = server.bodies.map(({ prompt_cache_key: key }) => key);
    expect(ann).to.be.a('string').and.not.equal(bob);
  });

  it('is none of ours where the caller has its own, or the server may refuse it', async () => {
    await open('openai');
    const own = { prompt_cache_key: 'mine' };
    expect(
      await keysOf([
        ['chat', 's1', own],
        ['responses', 's1', own],
      ]),
    ).to.deep.equal(['mine', 'mine']);
    await gateway.close();
    for (const slot of ['azure', 'mistral'] as const) {
      await open(slot);
      const [first, given] = await keysOf([
        ['messages', 's1'],
        ['chat', 's1', own],
      ]);
      expect([first, given]).to.deep.equal([undefined, slot === 'mistral' ? 'mine' : undefined]);
      if (slot === 'azure') await gateway.close();
    }
  });

  for (const slot of ['openai', 'responses'] as const)
    for (const refusal of [
      'Unrecognized request argument supplied: prompt_cache_key',
      "Unsupported parameter: 'prompt_cache_key' is not supported with this model.",
    ])
      it(`is taken back where ${slot} says "${refusal}", and left out from then on`, async () => {
        await open(slot);
        server.refuse = (body) => ('prompt_cache_key' in body ? refusal : undefined);
        const send = (fields: object = {}) =>
          gateway.post(
            '/v1/chat/completions',
            { model: 'sonnet-5', messages: say, ...fields },
            { 'x-session-id': 's' },
          );
        const seen = [];
        for (const fields of [{}, {}, { prompt_cache_key: 'mine' }]) {
          const response = await send(fields);
          const { headers, status } = response;
          seen.push([status, headers.get('x-gw-attempts'), headers.get('x-gw-dropped')]);
        }
        expect(seen).to.deep.equal([
          [200, '2', null],
          [200, '1', null],
          [200, '1', 'prompt_cache_key'],
        ]);
      });
});

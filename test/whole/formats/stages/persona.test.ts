import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { lastCall } from '../../kit.js';

const text = 'You speak for the house.';
const persona = { type: 'text', text };

describe('the persona', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair({ pipeline: stages({ with: { 'persona-inject': { text } } }) });
  });
  after(() => pair.close());

  async function systemOf(fields: object, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    expect(await pair.post('/v1/messages', ask('Hello!', fields), headers)).to.have.property('status', 200);
    return lastCall(pair.simulator)['system'];
  }

  it('is the first system block, the caller’s own after it as they came', async () => {
    expect(await systemOf({})).to.deep.equal([persona]);
    expect(await systemOf({ system: 'Be brief.' })).to.deep.equal([
      persona,
      { type: 'text', text: 'Be brief.' },
    ]);
    const blocks = [
      { type: 'text', text: 'One.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Two.' },
    ];
    expect(await systemOf({ system: blocks })).to.deep.equal([persona, ...blocks]);
  });

  it('is the same for every session and caller', async () => {
    const systems = [];
    for (const id of ['one', 'two', 'three']) systems.push(await systemOf({}, { 'x-session-id': id }));
    expect(new Set(systems.map((system) => JSON.stringify(system))).size).to.equal(1);
  });

  it('stands in front in every format', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello!' },
    ];
    for (const [path, body] of [
      ['/v1/chat/completions', { messages }],
      ['/v1/responses', { input: 'Hello!', instructions: 'Be brief.' }],
    ] as const) {
      await pair.post(path, { model: 'sonnet-5', ...body });
      expect(lastCall(pair.simulator)['system']).to.deep.equal([
        persona,
        { type: 'text', text: 'Be brief.' },
      ]);
    }
  });

  it('is not added where its text is empty', async () => {
    const without = await startPair({ pipeline: stages({ with: { 'persona-inject': { text: '' } } }) });
    await without.post('/v1/messages', ask('Hello!'));
    expect(lastCall(without.simulator)).not.to.have.property('system');
    await without.close();
  });

  it('is neutral where the operator says nothing: it names no vendor', async () => {
    const plain = await startPair();
    await plain.post('/v1/messages', ask('Hello!'));
    const [{ text }] = lastCall(plain.simulator)['system'] as [{ text: string }];
    await plain.close();
    expect(text).to.equal('You are a careful and helpful assistant.');
  });
});

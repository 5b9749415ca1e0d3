import { expect } from 'chai';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { lastCall } from '../../kit.js';

describe('max_tokens', () => {
  let pair: Pair;
  before(async () => void (pair = await startPair()));
  after(() => pair.close());

  for (const [what, fields, expected] of [
    ['omitted is 128000', {}, 128_000],
    ['omitted is the model’s cap where that is lower', { model: 'haiku-5' }, 64_000],
    ['omitted is the cap of an alias’s model', { model: 'haiku' }, 64_000],
    ['that the caller set is never raised', { max_tokens: 7 }, 7],
    ['that the caller set is not raised to a cap', { model: 'haiku-5', max_tokens: 63_999 }, 63_999],
    ['above the model’s cap is lowered to it', { model: 'haiku-5', max_tokens: 64_001 }, 64_000],
    ['above 128000 is lowered', { max_tokens: 1_000_000 }, 128_000],
    ['above 128000 is lowered for a model that nobody knows', { model: 'new', max_tokens: 200_000 }, 128_000],
    ['null is as if omitted', { max_tokens: null }, 128_000],
  ] as const)
    it(what, async () => {
      const body = { ...ask('Hello!', { max_tokens: undefined }), ...fields };
      expect(await pair.post('/v1/messages', body)).to.have.property('status', 200);
      expect(lastCall(pair.simulator)).to.have.property('max_tokens', expected);
    });

  for (const [path, body, field] of [
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello!' }] }, 'max_completion_tokens'],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello!' }] }, 'max_tokens'],
    ['/v1/responses', { input: 'Hello!' }, 'max_output_tokens'],
    ['/v1/completions', { prompt: 'Hello!' }, 'max_tokens'],
  ] as const)
    it(`is what ${field} of ${path} says, within the cap`, async () => {
      for (const [sent, expected] of [
        [undefined, 64_000],
        [50, 50],
        [100_000, 64_000],
      ] as const) {
        await pair.post(path, { model: 'haiku-5', ...body, [field]: sent });
        expect(lastCall(pair.simulator)).to.have.property('max_tokens', expected);
      }
    });

  it('is one budget of thinking and text', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const response = await pair.post('/v1/messages', ask('Hello!', { thinking, max_tokens: 1030 }));
    const { usage } = (await response.json()) as { usage: { output_tokens: number } };
    expect(usage.output_tokens).to.be.at.most(1030);
    expect(lastCall(pair.simulator)).to.include({ max_tokens: 1030 });
  });

  it('has the operator’s cap too', async () => {
    const other = await startPair({ pipeline: stages({ with: { 'max-tokens': { cap: 1000 } } }) });
    await other.post('/v1/messages', ask('Hello!', { max_tokens: 5000 }));
    expect(lastCall(other.simulator)).to.have.property('max_tokens', 1000);
    await other.close();
  });
});

import { expect } from 'chai';
import type OpenAI from 'openai';
import { startPair, type Pair } from '../harness.js';
import { modelCalls, openaiAt } from './sdk-clients.js';

const model = 'sonnet-5';

describe('the Completions SDK', () => {
  let pair: Pair;
  let client: OpenAI;
  before(async () => {
    pair = await startPair();
    client = openaiAt(pair);
  });
  after(() => pair.close());

  it('gets a text', async () => {
    const completion = await client.completions.create({ model, prompt: 'Hello!' });
    expect(completion).to.include({ object: 'text_completion', model });
    expect(completion.choices[0]).to.deep.include({ index: 0, finish_reason: 'stop', logprobs: null });
    expect(completion.choices[0]?.text).to.include('You said: Hello!');
  });

  it('gets the same text chunk by chunk, and the usage last', async () => {
    const params = { model, prompt: 'Hello!', stream_options: { include_usage: true } };
    const chunks = [];
    for await (const chunk of await client.completions.create({ ...params, stream: true }))
      chunks.push(chunk);
    const whole = await client.completions.create({ model, prompt: 'Hello!' });
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).to.equal(whole.choices[0]?.text);
    expect(chunks.at(-1)).to.deep.include({ choices: [] });
    expect(chunks.at(-1)?.usage?.total_tokens).to.equal(whole.usage?.total_tokens);
  });

  it('gets a choice for each prompt and each n, in order, one upstream call each', async () => {
    const earlier = modelCalls(pair).length;
    const params = { model, prompt: ['One', 'Two', 'Three'], n: 2, echo: true };
    const { choices, usage } = await client.completions.create(params);
    expect(modelCalls(pair).length - earlier).to.equal(6);
    expect(
      choices.map(({ index, text }) => [index, /^[A-Z][a-z]{2,4}(?=This)/.exec(text)?.[0]]),
    ).to.deep.equal([
      [0, 'One'],
      [1, 'One'],
      [2, 'Two'],
      [3, 'Two'],
      [4, 'Three'],
      [5, 'Three'],
    ]);
    const texts = choices.map(() => '');
    for await (const chunk of await client.completions.create({ ...params, stream: true }))
      for (const { index, text } of chunk.choices) texts[index] += text;
    expect(texts).to.deep.equal(choices.map(({ text }) => text));
    expect(usage?.completion_tokens).to.be.greaterThan(0);
  });

  it('gets very many at once, of which Node.js does not complain', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error) => void warnings.push(warning);
    process.on('warning', hear);
    try {
      const prompt = Array.from({ length: 30 }, (_, at) => `Prompt ${at}`);
      const { choices } = await client.completions.create({ model, prompt });
      expect(choices).to.have.length(30);
    } finally {
      process.off('warning', hear);
    }
    expect(warnings).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { toldUsage } from '../../shared/told-usage.js';
import { chunk, counts, translate } from './answers.js';

/** Usage of an answer whose last chunks are these. */
async function usageOf(...chunks: readonly object[]): Promise<object> {
  const { message } = await translate(chunk({ content: 'word word' }), ...chunks, '[DONE]');
  return toldUsage(message.usage);
}

const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

describe('the usage of a Chat server', () => {
  const cached = { input_tokens: 80, output_tokens: 5, cache_read_input_tokens: 20 };
  const counted = { prompt_tokens: 100, completion_tokens: 5 };
  for (const [server, usage] of Object.entries({
    OpenAI: { ...counted, prompt_tokens_details: { cached_tokens: 20 } },
    DeepSeek: { ...counted, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 80 },
    Moonshot: { ...counted, cached_tokens: 20 },
  }))
    it(`counts what was read from the cache apart, as ${server} names it`, async () => {
      expect(await usageOf(chunk({}, 'stop'), counts(usage))).to.deep.equal(cached);
    });

  it('counts what was read from the cache apart, as the timings of llama.cpp name it', async () => {
    const timings = { cache_n: 20, prompt_n: 80, predicted_n: 5 };
    expect(await usageOf(chunk({}, 'stop', { timings, usage: counted }))).to.deep.equal(cached);
    expect(await usageOf(chunk({}, 'stop', { timings }))).to.deep.equal(cached);
  });

  it('counts what was written to the cache apart', async () => {
    const details = { cached_tokens: 20, cache_write_tokens: 30 };
    expect(
      await usageOf(chunk({}, 'stop'), counts({ ...counted, prompt_tokens_details: details })),
    ).to.deep.equal({
      input_tokens: 50,
      output_tokens: 5,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 30,
    });
  });

  it('has the thinking in the output, also where the server counts it beside', async () => {
    const thinking = { completion_tokens_details: { reasoning_tokens: 7 } };
    const details = { output_tokens_details: { thinking_tokens: 7 } };
    const within = { prompt_tokens: 10, completion_tokens: 9, total_tokens: 19, ...thinking };
    expect(await usageOf(chunk({}, 'stop'), counts(within))).to.deep.equal({
      input_tokens: 10,
      output_tokens: 9,
      ...details,
    });
    const beside = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 19, ...thinking };
    expect(await usageOf(chunk({}, 'stop'), counts(beside))).to.deep.equal({
      input_tokens: 10,
      output_tokens: 9,
      ...details,
    });
  });

  it('has the prompt as its input where more was read from the cache than that has', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 161 } };
    expect(await usageOf(chunk({}, 'stop'), counts(usage))).to.deep.equal({
      input_tokens: 7,
      output_tokens: 5,
      cache_read_input_tokens: 161,
    });
  });

  it('is whole numbers', async () => {
    const usage = { prompt_tokens: 7.25, completion_tokens: 4.5 };
    expect(await usageOf(chunk({}, 'stop'), counts(usage))).to.deep.equal({
      input_tokens: 7,
      output_tokens: 5,
    });
  });

  it('is that of the last chunk which has one', async () => {
    const first = chunk({ content: 'a' }, null, { usage: { prompt_tokens: 10, completion_tokens: 1 } });
    const last = chunk({}, 'stop', { usage: { prompt_tokens: 10, completion_tokens: 3 } });
    expect(await usageOf(first, last)).to.deep.equal({ input_tokens: 10, output_tokens: 3 });
  });

  it('is not taken back by a second object of zeros', async () => {
    const first = chunk({}, 'stop', { usage: { prompt_tokens: 10, completion_tokens: 3 } });
    expect(await usageOf(first, counts(zeros))).to.deep.equal({ input_tokens: 10, output_tokens: 3 });
  });

  it('may be in the choice, or beside it', async () => {
    const within = { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: counted }] };
    expect(await usageOf(within)).to.deep.equal({ input_tokens: 100, output_tokens: 5 });
    expect(await usageOf(chunk({}, 'stop', { x_groq: { usage: counted } }))).to.deep.equal({
      input_tokens: 100,
      output_tokens: 5,
    });
  });

  for (const [name, chunks] of Object.entries({ missing: [], zero: [counts(zeros)] }))
    it(`is estimated, and says so, where it is ${name}`, async () => {
      expect(await usageOf(chunk({}, 'stop'), ...chunks)).to.deep.equal({
        input_tokens: 100,
        output_tokens: 3,
        estimated: true,
      });
    });
});

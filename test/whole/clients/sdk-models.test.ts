import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import type OpenAI from 'openai';
import { stringify } from 'yaml';
import { startPair, type Pair } from '../harness.js';
import { anthropicAt, openaiAt } from './sdk-clients.js';

const ids = ['one', 'two', 'three', 'four', 'five'];

describe('the model catalog', () => {
  let folder: string;
  let pair: Pair;
  let anthropic: Anthropic;
  let openai: OpenAI;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw2api-catalog-'));
    const models = ids.map((id) => ({ id, displayName: `Model ${id}`, aliases: [`${id}-latest`] }));
    await writeFile(join(folder, 'models.yaml'), stringify({ models }));
    pair = await startPair({ models: join(folder, 'models.yaml') });
    anthropic = anthropicAt(pair);
    openai = openaiAt(pair);
  });
  after(async () => {
    await pair.close();
    await rm(folder, { recursive: true });
  });

  async function idsOf(list: AsyncIterable<{ readonly id: string }>): Promise<readonly string[]> {
    const found = [];
    for await (const { id } of list) found.push(id);
    return found;
  }

  it('is listed to both SDKs', async () => {
    expect(await idsOf(anthropic.models.list())).to.deep.equal(ids);
    expect(await idsOf(openai.models.list())).to.deep.equal(ids);
  });

  for (const limit of [1, 2, 5, 1000]) {
    it(`is paged through by ${limit} without a gap`, async () => {
      expect(await idsOf(anthropic.models.list({ limit }))).to.deep.equal(ids);
    });
  }

  it('is paged from the middle, forwards and backwards', async () => {
    expect(await idsOf(anthropic.models.list({ limit: 2, after_id: 'two' }))).to.deep.equal(ids.slice(2));
    const page = await anthropic.models.list({ limit: 2, before_id: 'four' });
    expect(page.data.map(({ id }) => id)).to.deep.equal(['two', 'three']);
    expect(page.has_more).to.equal(true);
  });

  it('shows one model to both SDKs, each in its own fields', async () => {
    const theirs = await anthropic.models.retrieve('two');
    expect(theirs).to.include({ id: 'two', type: 'model', display_name: 'Model two' });
    expect(Date.parse(theirs.created_at)).to.be.greaterThan(0);
    const others = await openai.models.retrieve('two');
    expect(others).to.include({ id: 'two', object: 'model' });
    expect(others.created * 1000).to.equal(Date.parse(theirs.created_at));
    expect(others.owned_by).to.be.a('string');
  });

  it('shows a model by its alias', async () => {
    expect((await anthropic.models.retrieve('two-latest')).id).to.equal('two');
  });

  it('shows the caller the name that it used, in every format', async () => {
    const message = { role: 'user', content: 'Hi' } as const;
    const model = 'two-latest';
    const answers = [
      await anthropic.messages.create({ model, max_tokens: 10, messages: [message] }),
      await anthropic.messages.stream({ model, max_tokens: 10, messages: [message] }).finalMessage(),
      await openai.chat.completions.create({ model, messages: [message] }),
      await openai.responses.create({ model, input: 'Hi' }),
      await openai.completions.create({ model, prompt: 'Hi' }),
    ];
    expect(answers.map((answer) => answer.model)).to.deep.equal(answers.map(() => model));
  });
});

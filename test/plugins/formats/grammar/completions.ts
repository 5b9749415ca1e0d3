import { expect } from 'chai';
import type { Completion } from 'openai/resources/completions';
import { sentEvents } from '../streams.js';
import { isWellFormed } from './text.js';

export interface FoldedCompletion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly text: string;
    readonly logprobs: null;
    readonly finish_reason: string | null;
  }[];
  readonly usage: unknown;
}

/** Checks a complete stream against the grammar of completion chunks, and folds it. */
export function foldCompletions(text: string, options: { usage: boolean }): FoldedCompletion {
  const sent = sentEvents(text);
  expect(sent.at(-1)?.data).to.equal('[DONE]');
  const chunks = sent.slice(0, -1).map(({ data }) => JSON.parse(data) as Completion);
  const { id, object, created, model } = chunks[0]!;
  expect(object).to.equal('text_completion');
  const choices = new Map<
    number,
    { index: number; text: string; logprobs: null; finish_reason: string | null }
  >();
  for (const chunk of options.usage ? chunks.slice(0, -1) : chunks) {
    expect({ ...chunk, choices: [], usage: null }).to.deep.equal({
      id,
      object,
      created,
      model,
      choices: [],
      usage: null,
    });
    const { index, text, finish_reason } = chunk.choices[0]!;
    expect(isWellFormed(text)).to.equal(true);
    const known = choices.get(index) ?? { index, text: '', logprobs: null, finish_reason: null };
    expect(known.finish_reason).to.equal(null);
    choices.set(index, { ...known, text: known.text + text, finish_reason });
  }
  const folded = [...choices.values()].toSorted((a, b) => a.index - b.index);
  for (const { finish_reason } of folded) expect(finish_reason).to.be.a('string');
  const usage = options.usage ? chunks.at(-1)!.usage : undefined;
  if (options.usage) expect(chunks.at(-1)!.choices).to.deep.equal([]);
  return { id, object, created, model, choices: folded, usage };
}

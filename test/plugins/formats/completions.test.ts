import { expect } from 'chai';
import completions from '#plugins/formats/completions/index.js';
import { end, made, messageStart, text, tool } from './events.js';
import { foldCompletions } from './grammar/completions.js';
import { replyOf, streamed, whole } from './streams.js';

const answer = [...made(messageStart([], 'msg_7')), ...text('one '), ...text('two'), ...end('max_tokens')];

describe('completions replies', () => {
  it('are text and a reason', async () => {
    const { text } = await streamed(completions, { model: 'asked', prompt: 'Say' }, replyOf(answer));
    expect(foldCompletions(text, { usage: false })).to.deep.include({
      id: 'cmpl-7',
      model: 'asked',
      choices: [{ index: 0, text: 'one two', logprobs: null, finish_reason: 'length' }],
    });
  });

  it('show nothing of thinking and tools', async () => {
    const events = [...made(messageStart()), ...tool('toolu_1', 'a', '{}'), ...end('tool_use')];
    const reply = await whole(completions, { model: 'asked', prompt: 'Say' }, replyOf(events));
    expect(reply).to.have.nested.property('choices[0].text', '');
  });

  it('put its own prompt in front of each of several answers', async () => {
    const choices = [0, 1, 2, 3].flatMap((choice) => answer.map((event) => event.withChoice(choice)));
    const body = { model: 'asked', prompt: ['A: ', 'B: '], n: 2, echo: true };
    const { text } = await streamed(completions, body, replyOf(choices));
    const folded = foldCompletions(text, { usage: false });
    expect(folded.choices.map(({ text }) => text)).to.deep.equal([
      'A: one two',
      'A: one two',
      'B: one two',
      'B: one two',
    ]);
    const reply = await whole(completions, body, replyOf(choices));
    expect(reply['choices']).to.deep.equal(folded.choices);
    expect(reply).to.have.nested.property('usage.prompt_tokens', 4 * 18);
  });
});

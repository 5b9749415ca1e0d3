import { expect } from 'chai';
import type { ContentBlock } from '#src/plugin/index.js';
import { LastResults } from '#src/plugin/stage/last-results.js';

const call = (id: string): ContentBlock => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string, content: string): ContentBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});

function sent(contents: readonly (readonly ContentBlock[])[]): readonly ContentBlock[] {
  const results = LastResults.of(contents);
  return contents.flat().flatMap((block) => (results ? (results.sent(block) ?? []) : block));
}

describe('the last results of a conversation', () => {
  it('are found only where a call has several', () => {
    expect(LastResults.of(['Hi', [call('a')], [result('a', '1'), result('b', '2')]])).to.equal(undefined);
  });

  it('take the place of the first one, in the same turn and in a later one', () => {
    const [use, first, second, third] = [call('a'), result('a', '1'), result('a', '2'), result('a', '3')];
    expect(sent([[use], [first, second], [{ type: 'text', text: 'And?' }], [third]])).to.deep.equal([
      use,
      third,
      { type: 'text', text: 'And?' },
    ]);
    expect([...LastResults.of([[use], [first, second]])!.replaced]).to.deep.equal([first]);
  });

  it('leave each of several calls with one id its own', () => {
    const turns = [
      [call('a')],
      [result('a', '1')],
      [call('a'), call('a')],
      [result('a', '2'), result('a', '3')],
    ];
    expect(LastResults.of(turns)).to.equal(undefined);
    const resent = [...turns, [result('a', '4')]];
    expect(sent(resent).filter(({ type }) => type === 'tool_result')).to.deep.equal([
      result('a', '1'),
      result('a', '2'),
      result('a', '4'),
    ]);
  });
});

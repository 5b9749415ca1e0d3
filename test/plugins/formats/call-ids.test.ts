import { expect } from 'chai';
import type { ContentBlock, Message } from '@gw2api/gateway/plugin';
import { CallIds, withUniqueCalls } from '#plugins/formats/shared/tools/call-ids.js';

const call = (id: string): ContentBlock => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string, content: string): ContentBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});
const turn = (calls: readonly ContentBlock[], results: readonly ContentBlock[]): readonly Message[] => [
  { role: 'assistant', content: calls },
  { role: 'user', content: results },
];

describe('CallIds', () => {
  it('gives each id once, and a new one the same name each time', () => {
    const ids = ['a', 'b', 'a', 'a_2', 'a'];
    for (const names of [new CallIds(), new CallIds()])
      expect(ids.map((id) => names.unique(id))).to.deep.equal(['a', 'b', 'a_2', 'a_2_2', 'a_3']);
  });

  it('keeps clear of those that are taken', () => {
    const ids = new CallIds(['a', 'a_2']);
    expect([ids.unique('a'), ids.unique('c')]).to.deep.equal(['a_3', 'c']);
  });
});

describe('withUniqueCalls', () => {
  it('leaves a conversation whose ids are unique as it is, to the very object', () => {
    const messages = [...turn([call('a')], [result('a', '1')]), ...turn([call('b')], [result('b', '2')])];
    withUniqueCalls(messages).forEach((message, at) => expect(message).to.equal(messages[at]));
  });

  it('does not change what went up before when a turn is added, so that prompt caches hold', () => {
    const first = [...turn([call('a')], [result('a', '1')]), ...turn([call('a')], [result('a', '2')])];
    const longer = withUniqueCalls([...first, ...turn([call('a'), call('a_2')], [result('a', '3')])]);
    expect(longer.slice(0, first.length)).to.deep.equal(withUniqueCalls(first));
  });

  it('leaves a result alone that answers no call of the turn before', () => {
    const [, lost] = withUniqueCalls(turn([call('a')], [result('z', '1')]));
    expect(lost?.content).to.deep.equal([result('z', '1')]);
  });

  it('takes a hundred thousand calls of one id', () => {
    const calls = Array.from({ length: 100_000 }, () => call('a'));
    const results = calls.map((_, at) => result('a', String(at)));
    const [asked, answered] = withUniqueCalls(turn(calls, results));
    expect(asked?.content.at(-1)).to.deep.equal(call('a_100000'));
    expect(answered?.content.at(-1)).to.deep.equal(result('a_100000', '99999'));
  });
});

import { expect } from 'chai';
import { copyOf, differences, isSame } from '#src/features/explain/recording/json-diff.js';

describe('the difference of two requests', () => {
  it('names each place that has changed, with what was there and what is', () => {
    const before = { model: 'a', messages: [{ role: 'user', content: 'hi' }], stream: true };
    const after = { model: 'a', messages: [{ role: 'user', content: 'ho' }], max_tokens: 5 };
    expect(differences(before, after).found).to.deep.equal([
      { path: 'messages[0].content', before: 'hi', after: 'ho' },
      { path: 'stream', before: true },
      { path: 'max_tokens', after: 5 },
    ]);
  });

  it('finds an item that was put in front of others as one that is new', () => {
    const before = { system: [{ text: 'mine' }, { text: 'too' }] };
    const after = { system: [{ text: 'persona' }, { text: 'mine' }, { text: 'too' }] };
    expect(differences(before, after).found).to.deep.equal([
      { path: 'system[0]', after: { text: 'persona' } },
    ]);
    expect(differences(after, before).found).to.deep.equal([
      { path: 'system[0]', before: { text: 'persona' } },
    ]);
  });

  it('counts what is beyond the max', () => {
    const { found, more } = differences({ a: 1, b: 1, c: 1 }, { a: 2, b: 2, c: 2 }, 2);
    expect(found.map(({ path }) => path)).to.deep.equal(['a', 'b']);
    expect(more).to.equal(1);
  });

  it('is nothing for equal values, whatever the order of their keys', () => {
    expect(differences({ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }).found).to.deep.equal([]);
    expect(isSame({ a: [1, 2] }, { a: [1] })).to.equal(false);
  });

  it('quotes names that are no words', () => {
    expect(differences({}, { 'a b': 1 }).found).to.deep.equal([{ path: '["a b"]', after: 1 }]);
  });

  it('is found against a copy after a change in place', () => {
    const request = { messages: [{ content: 'hi' }] };
    const copy = copyOf(request);
    request.messages[0]!.content = 'ho';
    expect(differences(copy, request).found).to.have.length(1);
  });

  it('visits each part of a long list that was changed at its end a bounded number of times', () => {
    let visits = 0;
    const item = (at: number) =>
      new Proxy({ at }, { ownKeys: (target) => ((visits += 1), Reflect.ownKeys(target)) });
    const before = Array.from({ length: 1000 }, (_, at) => item(at));
    const after = [...before.slice(0, 999).map(({ at }) => item(at)), item(-1)];
    expect(differences(before, after).found).to.have.length(1);
    expect(visits).to.be.below(5000);
  });
});

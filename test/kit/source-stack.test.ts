import { expect } from 'chai';
import { sourceStack } from '#src/kit/source-stack.js';

describe('a stack', () => {
  it('names the lines of the sources', () => {
    const [, place] = sourceStack(new Error('here').stack!).split('\n');
    expect(place).to.match(/\/test\/kit\/source-stack\.test\.ts:6:\d+\)?$/);
  });

  it('keeps what has no source', () => {
    for (const line of ['at node:fs:1:2', 'at file:///nowhere/x.js:1:2'])
      expect(sourceStack(line)).to.equal(line);
  });
});

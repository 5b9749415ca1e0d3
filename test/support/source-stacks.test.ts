import { expect } from 'chai';
import { mapped } from './source-stacks.js';

describe('the stack of an error of a test', () => {
  it('names the lines of the sources', () => {
    const [, place] = mapped(new Error('here').stack!).split('\n');
    expect(place).to.match(/\/test\/support\/source-stacks\.test\.ts:6:\d+\)?$/);
  });

  it('keeps what has no source', () => {
    for (const line of ['at node:fs:1:2', 'at file:///nowhere/x.js:1:2']) expect(mapped(line)).to.equal(line);
  });
});

import { expect } from 'chai';
import { markPart, ownFeatures } from './own-features.js';
import { lostOf } from './lost.js';
import { play } from './run.js';

describe('what a request says, at every upstream kind and preset', function () {
  this.timeout(120_000);
  it('is not lost where it is a tool that a vendor runs, an object of an account, audio, or a name', async () => {
    expect(lostOf(await play(ownFeatures, markPart), ownFeatures)).to.deep.equal([]);
  });
});

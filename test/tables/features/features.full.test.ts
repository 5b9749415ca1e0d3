import { expect } from 'chai';
import { sharedFeatures } from './feature.js';
import { lostOf } from './lost.js';
import { receivers } from './receivers.js';
import { play } from './run.js';
import { unknownMembers, unknownPart } from './unknown-members.js';

describe('what a request says, at every upstream kind and preset', function () {
  this.timeout(120_000);

  it('is sent, reported by its own path, or refused by its name', async function () {
    const features = sharedFeatures();
    if (features.length === 0) return this.skip();
    expect(lostOf(await play(features), features)).to.deep.equal([]);
  });

  it('is not lost where it is a member that nobody knows, in any object of a body', async function () {
    const features = unknownMembers(sharedFeatures());
    if (features.length === 0) return this.skip();
    // A member is lost in a format or a kind; the presets of a kind differ in what they take.
    const each = receivers.filter(({ id }) => ['messages', 'responses', 'openai', 'text-only'].includes(id));
    expect(lostOf(await play(features, unknownPart, each), features, each.length)).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { sharedFeatures, type Feature } from './feature.js';
import { markPart, ownFeatures } from './own-features.js';
import { unknownMembers, unknownPart } from './unknown-members.js';
import { play, type Cell } from './run.js';
import { receivers } from './receivers.js';

describe('what a request says, at every upstream kind and preset', function () {
  this.timeout(120_000);
  const lostOf = (
    cells: readonly Cell[],
    features: readonly Feature[],
    at = receivers.length,
  ): readonly string[] => {
    expect(cells).to.have.length(features.length * at);
    const lost = cells.filter(({ verdict }) => verdict === 'LOST');
    return lost.map(({ feature, receiver }) => `${feature.format}: ${feature.name} at ${receiver}`);
  };

  it('is sent, reported by its own path, or refused by its name', async function () {
    const features = sharedFeatures();
    if (features.length === 0) return this.skip();
    expect(lostOf(await play(features), features)).to.deep.equal([]);
  });

  it('is not lost where it is a tool that a vendor runs, an object of an account, sound, or a name', async () => {
    expect(lostOf(await play(ownFeatures, markPart), ownFeatures)).to.deep.equal([]);
  });

  it('is not lost where it is a member that nobody knows, in any object of a body', async function () {
    const features = unknownMembers(sharedFeatures());
    if (features.length === 0) return this.skip();
    // A member is lost in a format or a kind; the presets of a kind differ in what they take.
    const each = receivers.filter(({ id }) => ['messages', 'responses', 'openai', 'text-only'].includes(id));
    expect(lostOf(await play(features, unknownPart, each), features, each.length)).to.deep.equal([]);
  });
});

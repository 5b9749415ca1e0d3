import { expect } from 'chai';
import { maxNameLength, partsOf, shortName } from '#src/engine/models/name-parts.js';

describe('the name of a model', () => {
  for (const name of ['sonnet-5', 'gpt-x', 'claude-', 'sonnet-5-5', 'x@latest2', '', 'a-19990101'])
    it(`${JSON.stringify(name)} has no longer form`, () => {
      expect([partsOf(name), shortName(name)]).to.deep.equal([undefined, name]);
    });

  it('loses the vendor and the version, at whole segments', () => {
    expect(partsOf('claude-sonnet-5')).to.deep.equal({
      undated: 'claude-sonnet-5',
      short: 'sonnet-5',
      isDated: false,
    });
    expect(partsOf('claude-sonnet-5-latest')).to.include({ short: 'sonnet-5', isDated: false });
    for (const name of ['claude-sonnet-5-20260101', 'claude-sonnet-5@20260101', 'sonnet-5-20260101'])
      expect(partsOf(name)).to.include({ short: 'sonnet-5', isDated: true });
    expect(shortName('claude-sonnet-5-5-20260101')).to.equal('sonnet-5-5');
    expect(shortName('claude-sonnet-520260101')).to.equal('sonnet-520260101');
  });

  it('is not looked at where it is longer than any name', () => {
    expect(partsOf(`claude-${'-20260101'.repeat(maxNameLength)}`)).to.equal(undefined);
  });
});

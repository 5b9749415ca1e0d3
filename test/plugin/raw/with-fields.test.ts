import { expect } from 'chai';
import * as fc from 'fast-check';
import { withFields } from '@gw2api/gateway/plugin';

describe('withFields', () => {
  const key = fc.constantFrom('a', 'b', 'system', '__proto__', 'constructor', '0');
  const object = fc
    .array(fc.tuple(key, fc.jsonValue()))
    .map((entries) =>
      JSON.parse(`{${entries.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join()}}`),
    )
    .map((value) => value as object);

  it('is what spreading gives, for all that JSON can hold', () => {
    fc.assert(
      fc.property(object, object, (one, other) => {
        const before = JSON.stringify([one, other]);
        const copy = withFields(one, other);
        expect(JSON.stringify(copy)).to.equal(JSON.stringify({ ...one, ...other }));
        expect(Object.getPrototypeOf(copy)).to.equal(Object.prototype);
        expect(JSON.stringify([one, other])).to.equal(before);
      }),
    );
  });

  it('takes along what stands under symbols', () => {
    const symbol = Symbol('kept');
    expect(withFields({ [symbol]: 1, a: 1 }, { a: 2 })).to.deep.equal({ [symbol]: 1, a: 2 });
  });
});

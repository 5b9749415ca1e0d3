import { expect } from 'chai';
import { Type } from 'typebox';
import { compileCheck, formatPath } from '#src/plugin/format/index.js';
import { didYouMean } from '#src/kit/schema/did-you-mean.js';

describe('compileCheck', () => {
  const Names = Type.Union([Type.String(), Type.Array(Type.String())]);
  const List = Type.Object({
    list: Type.Array(Type.Object({ names: Names }, { additionalProperties: false })),
  });
  const problems = (schema: object, value: unknown) =>
    compileCheck(schema, { useDefaults: true })(value).map(
      ({ path, message }) => `${formatPath(path)}: ${message}`,
    );

  it('finds nothing where a value conforms', () => {
    expect(problems(List, { list: [{ names: 'a' }, { names: ['b'] }] })).to.deep.equal([]);
  });

  it('says one thing of each union that does not fit, in whichever item it stands', () => {
    expect(problems(List, { list: [{ names: 1 }, { names: 'a' }, { names: true }] })).to.have.members([
      'list[0].names: must be a string or an array, not a number',
      'list[2].names: must be a string or an array, not true',
    ]);
  });

  it('says what is wrong deepest in the branch that got furthest', () => {
    expect(problems(List, { list: [{ names: ['a', 2] }] })).to.deep.equal([
      'list[0].names[1]: must be a string, not a number',
    ]);
  });

  it('says that a key is missing or unknown, and which one may be meant', () => {
    expect(problems(List, { list: [{ nmaes: 'a' }] })).to.have.members([
      'list[0].names: is required',
      'list[0].nmaes: is not a known key; did you mean "names"?',
    ]);
  });

  it('takes no number that is not finite', () => {
    const Numbers = Type.Object({ weight: Type.Number(), places: Type.Union([Type.Integer(), Type.Null()]) });
    expect(problems(Numbers, { weight: Infinity, places: -Infinity })).to.have.members([
      'weight: must be a finite number, not Infinity',
      'places: must be a whole number or null, not -Infinity',
    ]);
    expect(problems(Numbers, { weight: Number.NaN, places: null })).to.deep.equal([
      'weight: must be a finite number, not NaN',
    ]);
    expect(problems(Type.Object({ name: Type.String() }), { name: Infinity })).to.deep.equal([
      'name: must be a string, not a number',
    ]);
  });

  it('fills in defaults where it is asked to', () => {
    const value = {};
    compileCheck(Type.Object({ n: Type.Integer({ default: 3 }) }), { useDefaults: true })(value);
    expect(value).to.deep.equal({ n: 3 });
  });
});

describe('didYouMean', () => {
  it('finds a slip, and nothing where the name is another one', () => {
    expect(didYouMean('wtih', ['when', 'with', 'use'])).to.equal('with');
    expect(didYouMean('colour', ['when', 'with', 'use'])).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { withinStrictLimits, type StrictUse } from '#src/plugin/schema/fit/strict-limits.js';

const text = { type: 'string' };

function using(kind: StrictUse['kind'], optional = 0, unions = 0): StrictUse {
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
  const properties = Object.fromEntries([
    ...names('optional', optional).map((name) => [name, text]),
    ...names('union', unions).map((name) => [name, { type: ['string', 'null'] }]),
  ]);
  const nested = { type: 'object', properties, required: names('union', unions) };
  return { kind, schema: { type: 'object', properties: { nested }, required: ['nested'] } };
}

describe('limits over the strict schemas of one request', () => {
  it('keep all that are within them', () => {
    const uses = [...Array.from({ length: 20 }, () => using('tool', 1)), using('format', 4, 16)];
    expect([...withinStrictLimits(uses)]).to.deep.equal(uses);
  });

  it('take strict from the last tools first', () => {
    const uses = Array.from({ length: 22 }, () => using('tool'));
    expect([...withinStrictLimits(uses)]).to.deep.equal(uses.slice(0, 20));
    const optional = [using('tool', 20), using('tool', 4), using('tool', 1)];
    expect([...withinStrictLimits(optional)]).to.deep.equal(optional.slice(0, 2));
  });

  it('take it from the format next, and from the tool of a choice last', () => {
    const [forced, tool, format] = [using('forced', 24), using('tool', 0, 1), using('format', 1)];
    expect([...withinStrictLimits([forced, tool, format])]).to.deep.equal([forced]);
    const big = using('format', 25);
    expect([...withinStrictLimits([tool, big])]).to.deep.equal([]);
    expect([...withinStrictLimits([using('forced', 0, 17)])]).to.deep.equal([]);
  });
});

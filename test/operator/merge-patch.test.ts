import { expect } from 'chai';
import { mergePatch } from '#src/operator/json.js';

describe('a merge patch', () => {
  for (const [target, patch, result] of [
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: { x: 1, y: 2 } }, { a: { y: null, z: 3 } }, { a: { x: 1, z: 3 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, { a: { x: null, y: 1 } }, { a: { y: 1 } }],
    [{}, { a: null }, {}],
  ] as const)
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(target)} and ${JSON.stringify(patch)}`, () => {
      expect(mergePatch(target, patch, {})).to.deep.equal(result);
    });

  it('keeps what comes back as it was shown', () => {
    const target = { key: 'secret', nested: { token: 't', plain: 1 } };
    const shown = { key: '***', nested: { token: '***', plain: 1 } };
    expect(mergePatch(target, shown, shown)).to.deep.equal(target);
    expect(mergePatch(target, { key: 'new', other: '***' }, shown)).to.deep.equal({
      ...target,
      key: 'new',
      other: '***',
    });
  });

  it('reaches no prototype', () => {
    const patch = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    ) as object;
    const result = mergePatch({ a: 1 }, patch as Record<string, unknown>, {});
    expect(Object.getPrototypeOf(result)).to.equal(Object.prototype);
    expect(Object.keys(result)).to.deep.equal(['a', '__proto__', 'constructor']);
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
  });
});

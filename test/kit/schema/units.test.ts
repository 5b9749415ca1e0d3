import { expect } from 'chai';
import { Type } from 'typebox';
import { Duration, Size, durationMs, sizeBytes } from '#src/plugin/index.js';
import { compileCheck } from '#src/plugin/format/index.js';
import { timeMs } from '#src/kit/schema/units.js';

describe('units', () => {
  it('reads durations into milliseconds', () => {
    const read = ['500ms', '30s', '1.5m', '1h', '2d', '0s'].map(durationMs);
    expect(read).to.deep.equal([500, 30_000, 90_000, 3_600_000, 172_800_000, 0]);
  });

  it('reads sizes into bytes, a bare number being bytes', () => {
    const read = ['128mb', '1 KB', '2gb', '4096', 4096, '1.5kb'].map(sizeBytes);
    expect(read).to.deep.equal([134_217_728, 1024, 2_147_483_648, 4096, 4096, 1536]);
  });

  it('refuses a duration without its unit', () => {
    expect(() => durationMs('30')).to.throw(
      TypeError,
      '"30" is not a duration such as "500ms", "30s" or "1h".',
    );
  });

  it('checks options where they stand', () => {
    const check = compileCheck(Type.Object({ wait: Duration(), limit: Size() }), { useDefaults: true });
    expect(check({ wait: '1s', limit: 5 })).to.deep.equal([]);
    expect(check({ wait: 30, limit: '12 parsecs' })).to.deep.equal([
      { path: ['wait'], message: 'must be a duration such as "500ms", "30s" or "1h", not 30' },
      {
        path: ['limit'],
        message: 'must be a size such as "512kb" or "128mb", or a number of bytes, not "12 parsecs"',
      },
    ]);
  });

  it('fills in a default in its written form', () => {
    const options = {};
    compileCheck(Type.Object({ wait: Duration({ default: '30s' }) }), { useDefaults: true })(options);
    expect(options).to.deep.equal({ wait: '30s' });
  });
});

describe('a time', () => {
  const isoDay = Date.UTC(2026, 0, 2);

  for (const [text, ms] of [
    ['2026-01-02', isoDay],
    ['2026-01-02T00:00Z', isoDay],
    ['2026-01-02T01:00:00.5+01:00', isoDay + 500],
    ['0', 0],
    [String(isoDay), isoDay],
    [isoDay, isoDay],
  ] as const)
    it(`may be written ${text}`, () => {
      expect(timeMs(text)).to.equal(ms);
    });

  for (const text of [
    '',
    'now',
    '2026-1',
    '2026-13-01',
    '2026-01-02T00:00',
    '2026-01-02 00:00Z',
    '-1',
    1.5,
    1e16,
  ])
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(() => timeMs(text)).to.throw(TypeError, 'is not a time such as 2026-01-01T12:00:00Z');
    });
});

describe('a discriminated union', () => {
  const check = compileCheck({
    type: 'object',
    required: ['kind'],
    discriminator: { propertyName: 'kind' },
    oneOf: [
      { properties: { kind: { const: 'none' } } },
      { properties: { kind: { const: 'key' }, key: { type: 'string' } }, required: ['key'] },
    ],
  });

  it('names its kinds, not its branches', () => {
    expect(check({ kind: 'oath' })).to.deep.equal([
      { path: ['kind'], message: 'must be one of "none", "key", not "oath"' },
    ]);
    expect(check({})).to.deep.equal([{ path: ['kind'], message: 'is required' }]);
  });

  it('checks the branch of its kind alone', () => {
    expect(check({ kind: 'key' })).to.deep.equal([{ path: ['key'], message: 'is required' }]);
  });
});

import { expect } from 'chai';
import { isGatewayError, makeCaller, type CallerFields } from '@gw2api/gateway/plugin';

describe('makeCaller', () => {
  it('makes a caller whose id has the scheme and the name', () => {
    const caller = makeCaller('ldap', {
      name: 'ann',
      models: ['sonnet-*'],
      slots: ['a'],
      limits: { tokensPerDay: 100, usdPerDay: 0.5, maxConcurrent: undefined },
      team: { id: 't1', name: 'red', limits: { requestsPerMinute: 60 } },
      claims: { unit: 7 },
    });
    expect(caller).to.deep.equal({
      kind: 'key',
      keyId: 'ldap:ann',
      name: 'ann',
      models: ['sonnet-*'],
      slots: ['a'],
      limits: { tokensPerDay: 100, usdPerDay: 0.5 },
      team: { id: 't1', name: 'red', limits: { requestsPerMinute: 60 } },
      claims: { unit: 7 },
    });
    expect(makeCaller('ldap', { name: 'ann' })).to.deep.equal({
      kind: 'key',
      keyId: 'ldap:ann',
      name: 'ann',
    });
  });

  const refused: readonly (readonly [field: string, fields: Partial<CallerFields>, rule: string])[] = [
    ['name', { name: '' }, 'must be a text of 1 to 255 characters'],
    ['name', { name: 7 }, 'must be a text of 1 to 255 characters'],
    ['name', { name: 'x'.repeat(256) }, 'must be a text of 1 to 255 characters'],
    ['name', { name: 'a\0b' }, 'must be a text of 1 to 255 characters, none of them a control character'],
    ['name', { name: '\ud800' }, 'must be a text of 1 to 255 characters'],
    ['models', { models: 'sonnet-5' }, 'must be a list of at most 1000 texts'],
    ['slots', { slots: ['a', 7] }, 'must be a list of at most 1000 texts'],
    ['limits.tokensPerDay', { limits: { tokensPerDay: 0.5 } }, 'must be a whole number, 0 or more'],
    ['limits.tokensPerDay', { limits: { tokensPerDay: null } }, 'must be a whole number, 0 or more'],
    ['limits.usdPerDay', { limits: { usdPerDay: 1_000_001 } }, 'must be an amount from 0 to 1000000'],
    ['limits.perDay', { limits: { perDay: 1 } as object }, 'is not a limit; known limits: requestsPerMinute'],
    ['team.id', { team: { id: '', name: 'red' } }, 'must be a text of 1 to 255 characters'],
    [
      'team.limits.maxConcurrent',
      { team: { id: 't1', name: 'red', limits: { maxConcurrent: -1 } } },
      'must be a whole number',
    ],
    ['claims', { claims: ['a'] }, 'must be a JSON object of at most 8 KB'],
    ['claims', { claims: { text: 'x'.repeat(9000) } }, 'must be a JSON object of at most 8 KB'],
  ];
  for (const [field, fields, rule] of refused)
    it(`refuses ${field}: ${JSON.stringify(fields).slice(0, 60)}`, () => {
      const error = thrownBy(() => makeCaller('ldap', { name: 'ann', ...fields }));
      expect(isGatewayError(error)).to.equal(true);
      expect(error).to.include({ code: 'invalid_api_key', param: field });
      expect(String(error)).to.include(`${field} ${rule}`);
    });

  it('names a field as its caller does', () => {
    const nameOf = (field: string) => `claim of ${field}`;
    const error = thrownBy(() => makeCaller('ldap', { name: '' }, nameOf));
    expect(String(error)).to.include('claim of name must be a text');
  });

  it('throws a TypeError for a bad scheme and for an unknown field, which are faults of the code', () => {
    expect(() => makeCaller('', { name: 'ann' })).to.throw(TypeError, 'the scheme must be');
    const fields = { name: 'ann', limit: {} } as CallerFields;
    expect(() => makeCaller('ldap', fields)).to.throw(
      TypeError,
      'unknown field "limit"; did you mean "limits"?',
    );
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

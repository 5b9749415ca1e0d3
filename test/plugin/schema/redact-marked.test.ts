import { expect } from 'chai';
import { redactMarked } from '#src/plugin/internal.js';
import { compileCheck } from 'gw2api/plugin/format';

describe('redactMarked', () => {
  const pin = { type: 'string', secret: true };

  it('redacts what the schema marks, wherever it stands, and nothing else', () => {
    const schema = {
      properties: {
        pin,
        list: { items: { properties: { pin, name: {} } } },
        either: { anyOf: [{ properties: { pin } }, { type: 'string' }] },
        whole: { secret: true },
        headers: { patternProperties: { '^.*$': { type: 'string', secret: true } } },
        region: {},
      },
      additionalProperties: { properties: { pin } },
    };
    const value = {
      pin: '1',
      region: 'x',
      list: [{ pin: '2', name: 'n' }],
      either: { pin: '3' },
      whole: { a: '4' },
      other: { pin: 5, level: 1 },
      headers: { 'x-a': '6' },
      constructor: 'c',
    };
    expect(redactMarked(value, schema)).to.deep.equal({
      pin: '***',
      region: 'x',
      list: [{ pin: '***', name: 'n' }],
      either: { pin: '***' },
      whole: '***',
      other: { pin: '***', level: '***' },
      headers: { 'x-a': '***' },
      constructor: 'c',
    });
  });

  it('redacts what the schema does not describe', () => {
    const value = { a: 1, apiKey: { b: 'x' } };
    expect(redactMarked(value, undefined)).to.deep.equal({ a: '***', apiKey: '***' });
    expect(redactMarked(value, { type: 'object' })).to.deep.equal({ a: '***', apiKey: '***' });
    expect(redactMarked(value, { properties: { a: {}, apiKey: {} } })).to.deep.equal({
      a: 1,
      apiKey: { b: '***' },
    });
  });

  it('redacts tuples with a secret, as either edition of JSON Schema writes them', () => {
    const user = { type: 'string' };
    for (const login of [{ items: [user, pin] }, { prefixItems: [user, pin] }]) {
      const shown = redactMarked({ login: ['ann', 'hunter2'] }, { properties: { login } });
      expect(shown).to.deep.equal({ login: ['***', '***'] });
    }
    const open = { properties: { pair: { prefixItems: [user, user] } } };
    expect(redactMarked({ pair: ['a', 'b'] }, open)).to.deep.equal({ pair: ['a', 'b'] });
  });

  it('goes by no name', () => {
    const properties = { password: { type: 'string' }, maxTokens: { type: 'integer', secret: true } };
    const shown = redactMarked({ password: 'shown', maxTokens: 5 }, { properties });
    expect(shown).to.deep.equal({ password: 'shown', maxTokens: '***' });
  });

  it('has its like in messages, which do not quote a secret', () => {
    const check = compileCheck({
      properties: { pin: { ...pin, pattern: '^p-' }, one: { enum: ['a'], secret: true } },
    });
    expect(JSON.stringify(check({ pin: 'hunter2', one: 'hunter2' })))
      .to.include('pin')
      .and.not.include('hunter2');
  });
});

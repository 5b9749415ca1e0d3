import { expect } from 'chai';
import { redactMarked } from '#src/kit/schema/redact-marked.js';
import { compileCheck } from '@gw2api/gateway/plugin/format';

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

  const login = { properties: { user: { type: 'string' }, pin } };
  const shown = { login: { user: 'ann', pin: '***' } };
  for (const [what, schema] of Object.entries({
    $ref: { properties: { login: { $ref: '#/$defs/a~1b%20c' } }, $defs: { 'a/b c': login } },
    'a $ref to a $ref': {
      properties: { login: { $ref: '#/definitions/one' } },
      definitions: { one: { $ref: '#/definitions/two' }, two: login },
    },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    'if and then': { if: { properties: { kind: {} } }, then: { properties: { login } } },
    else: { if: {}, else: { properties: { login } } },
    dependentSchemas: { dependentSchemas: { kind: { properties: { login } } } },
    dependencies: { dependencies: { other: ['kind'], kind: { properties: { login } } } },
    unevaluatedProperties: { unevaluatedProperties: login },
    not: { properties: { login: { properties: { user: {}, pin: {} }, not: { properties: { pin } } } } },
  }))
    it(`follows ${what}`, () => {
      const value = { login: { user: 'ann', pin: 'hunter2' } };
      expect(redactMarked(value, schema)).to.deep.equal(shown);
    });

  it('follows a schema that refers to itself, as deep as the value is', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: { node: { anyOf: [{ $ref: '#' }], properties: { pin, next: { $ref: '#/$defs/node' } } } },
    };
    const value = { pin: '1', next: { pin: '2', next: { pin: '3' } } };
    const redacted = { pin: '***', next: { pin: '***', next: { pin: '***' } } };
    expect(redactMarked(value, schema)).to.deep.equal(redacted);
  });

  for (const $ref of ['https://elsewhere.example/schema.json', '#/$defs/none', '#anchor', '#/$defs/%', 5])
    it(`redacts all of what refers to a schema that it cannot follow: ${$ref}`, () => {
      const schema = { properties: { a: { $ref, properties: { b: {} } }, c: { $dynamicRef: '#c' }, d: {} } };
      expect(redactMarked({ a: { b: 1 }, c: 'x', d: 2 }, schema)).to.deep.equal({ a: '***', c: '***', d: 2 });
    });

  it('redacts items by every keyword that describes them', () => {
    for (const list of [{ contains: pin }, { items: [{}], additionalItems: pin }, { unevaluatedItems: pin }])
      expect(redactMarked({ list: ['x'] }, { properties: { list } })).to.deep.equal({ list: ['***'] });
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

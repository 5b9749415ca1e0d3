import { expect } from 'chai';
import { redactMarked, redactAddresses } from '#src/kit/schema/redact.js';
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

describe('redactAddresses', () => {
  const cases: readonly (readonly [string, unknown, unknown])[] = [
    [
      'the user of an address',
      { proxy: 'http://user:p@ss@egress:3128/' },
      { proxy: 'http://***@egress:3128/' },
    ],
    [
      'the query of an address',
      'https://hooks.example/a?token=t&x=1#top',
      'https://hooks.example/a?token=***&x=***#top',
    ],
    ['addresses in lists', { hooks: ['redis://:pw@db:6379'] }, { hooks: ['redis://***@db:6379'] }],
  ];
  for (const [what, value, blanked] of cases)
    it(`blanks ${what}`, () => expect(redactAddresses(value)).to.deep.equal(blanked));

  const harmless = [
    { firstTokenTimeout: '60s', tokensPerMinute: 1, apiKeyHeader: 'x-key' },
    { stickyFrom: ['prompt_cache_key', 'metadata.user_id'], header: 'x-api-key' },
    { pattern: 'a?b=c@d', text: 'Write to me@example.com or http://example.com/?', cache: true, at: null },
  ];
  for (const value of harmless)
    it(`leaves ${JSON.stringify(value)} alone`, () => expect(redactAddresses(value)).to.deep.equal(value));

  it('takes no longer for an address that is all question marks', () => {
    const began = performance.now();
    const address = `http://host/${'?'.repeat(200_000)}`;
    expect(redactAddresses(address)).to.equal(address);
    expect(redactAddresses('http://host/?a?token=secret')).to.equal('http://host/?a?token=***');
    expect(performance.now() - began).to.be.below(2000);
  });
});

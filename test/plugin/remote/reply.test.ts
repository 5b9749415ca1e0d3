import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { questionSchema, replyFault, replySchema, type RemotePhase } from '#src/plugin/remote/index.js';

const reply = (fields: object) => ({ version: 1, ...fields });

describe('a reply of a remote stage', () => {
  const valid: readonly (readonly [RemotePhase, object])[] = [
    ['request', { verdict: 'allow', state: { seen: 1 }, tags: { rule: 'none' } }],
    ['answer', { verdict: 'allow' }],
    ['events', { verdict: 'allow', state: 'x'.repeat(4000) }],
    ['request', { verdict: 'deny' }],
    ['request', { verdict: 'deny', status: 429, message: 'Too much.', retryAfter: 30 }],
    ['request', { verdict: 'refuse', message: 'No.' }],
    ['answer', { verdict: 'refuse', message: 'No.' }],
    ['events', { verdict: 'refuse' }],
    ['request', { verdict: 'change', set: { messages: [{ role: 'user', content: 'Hi' }], system: null } }],
    ['request', { verdict: 'change', patch: [{ op: 'replace', path: '/messages/0/content', value: 'Hi' }] }],
    ['request', { verdict: 'change', patch: [{ op: 'move', from: '/a', path: '/b' }] }],
    ['answer', { verdict: 'change', content: [{ type: 'text', text: 'Hi' }] }],
    ['events', { verdict: 'change', events: [] }],
    ['events', { verdict: 'hold', state: null }],
  ];
  for (const [phase, fields] of valid)
    it(`is accepted in ${phase}: ${JSON.stringify(fields).slice(0, 80)}`, () => {
      expect(replyFault(phase, reply(fields))).to.equal(undefined);
    });

  const tags = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`t${at}`, 'x']));
  const invalid: readonly (readonly [RemotePhase, unknown, string])[] = [
    ['request', null, 'it is not a JSON object'],
    ['request', [], 'it is not a JSON object'],
    ['request', { verdict: 'allow' }, 'version: must be 1'],
    ['request', { version: 2, verdict: 'allow' }, 'version: must be 1'],
    ['request', reply({}), 'verdict: must be one of allow, deny, refuse, change'],
    ['request', reply({ verdict: 'hold' }), 'verdict: must be one of allow, deny, refuse, change'],
    ['answer', reply({ verdict: 'deny' }), 'verdict: must be one of allow, refuse, change'],
    ['events', reply({ verdict: 'deny' }), 'verdict: must be one of allow, refuse, change, hold'],
    ['events', reply({ verdict: 'toString' }), 'verdict: must be one of allow, refuse, change, hold'],
    ['request', reply({ verdict: 'allow', reason: '' }), 'reason'],
    ['request', reply({ verdict: 'deny', status: 500 }), 'status'],
    ['request', reply({ verdict: 'deny', message: 'x'.repeat(501) }), 'message'],
    ['request', reply({ verdict: 'deny', retryAfter: 1.5 }), 'retryAfter'],
    ['request', reply({ verdict: 'change' }), 'set'],
    ['request', reply({ verdict: 'change', set: { model: 'm' }, patch: [] }), 'patch'],
    ['request', reply({ verdict: 'change', set: { max_tokens: 1 } }), 'max_tokens'],
    ['request', reply({ verdict: 'change', patch: [{ op: 'replace', path: '/model' }] }), 'patch[0]'],
    ['request', reply({ verdict: 'change', patch: [{ op: 'merge', path: '/model', value: 1 }] }), 'patch[0]'],
    [
      'request',
      reply({ verdict: 'change', patch: Array.from({ length: 1001 }, () => ({ op: 'remove', path: '/a' })) }),
      'patch',
    ],
    ['answer', reply({ verdict: 'change', set: { model: 'm' } }), 'content'],
    ['request', reply({ verdict: 'allow', state: 'x'.repeat(4095) }), 'state: must have at most 4096 bytes'],
    ['request', reply({ verdict: 'allow', state: 'ä'.repeat(2048) }), 'state: must have at most 4096 bytes'],
    ['request', reply({ verdict: 'allow', tags: { 'a b': 'x' } }), 'tags'],
    ['request', reply({ verdict: 'allow', tags }), 'tags'],
    ['request', reply({ verdict: 'allow', tags: { a: 1 } }), 'tags'],
  ];
  for (const [phase, value, fault] of invalid)
    it(`is refused in ${phase}: ${(JSON.stringify(value) ?? '').slice(0, 80)}`, () => {
      expect(replyFault(phase, value)).to.include(fault);
    });
});

describe('the schemas of the protocol', () => {
  for (const [name, schema] of Object.entries({ question: questionSchema, reply: replySchema }))
    it(`are in config/remote-${name}.schema.json, which npm run build:reference writes`, () => {
      expect(JSON.parse(readFileSync(`config/remote-${name}.schema.json`, 'utf8'))).to.deep.equal(schema);
    });
});

import { expect } from 'chai';
import { substitute } from '#src/config/environment.js';
import { addressErrors } from '#src/config/addresses.js';
import { liveErrors, toLive } from '#src/config/sections/live.js';
import { storeErrors } from '#src/config/sections/state.js';

describe('passwords of addresses in a config', () => {
  const password = 'a/b#c?d%e@f:g';
  const filled = (text: string, env: Readonly<Record<string, string>> = { P: password }) =>
    substitute(text, env, () => password).text;

  for (const scheme of ['postgres', 'postgresql', 'redis', 'rediss', 'http', 'https', 'socks5'])
    it(`may have any characters where a variable gives them (${scheme})`, () => {
      for (const reference of ['${P}', '${file:p}', '${N:-a/b#c?d%e@f:g}']) {
        const url = new URL(filled(`${scheme}://me:${reference}@db.internal:1234/x`));
        expect([url.hostname, url.port, url.pathname]).to.deep.equal(['db.internal', '1234', '/x']);
        expect(decodeURIComponent(url.password)).to.equal(password);
      }
    });

  it('reach Redis as they are', () => {
    const live = toLive(filled('rediss://me:${P}@cache.internal'));
    expect(live).to.have.nested.property('access.password', password);
  });

  it('stay where they are encoded already, and so do addresses that are a variable, and other parts', () => {
    expect(filled('redis://:${P}@h', { P: 'a%40b' })).to.equal('redis://:a%40b@h');
    expect(filled('${P}', { P: 'redis://u:p@h/0?prefix=a' })).to.equal('redis://u:p@h/0?prefix=a');
    expect(filled('postgres://u@h/${P}', { P: 'a/b' })).to.equal('postgres://u@h/a/b');
    expect(filled('${P} @ //', { P: 'a/b' })).to.equal('a/b @ //');
  });

  const broken = [
    ['u:secret@more@h/db', 'a second "@"'],
    ['u:12/secret@h/db', 'a second "@"'],
    ['u:12?secret@h/db', 'a second "@"'],
    ['u:secret#more@h/db', 'a "#"'],
    ['h/db#secret', 'a "#"'],
  ] as const;
  for (const [rest, what] of broken)
    it(`are refused where an address has ${what}: ${rest}`, () => {
      for (const [{ path, message }] of [
        storeErrors(`postgres://${rest}`) as [{ path: readonly string[]; message: string }],
        liveErrors(`redis://${rest}`) as [{ path: readonly string[]; message: string }],
        addressErrors(['proxy'], `http://${rest}`) as [{ path: readonly string[]; message: string }],
      ]) {
        expect(path).to.have.lengthOf(1);
        expect(message).to.include('percent-encoded').and.not.include('secret');
      }
    });
});

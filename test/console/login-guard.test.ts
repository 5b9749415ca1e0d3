import { expect } from 'chai';
import { LoginGuard } from '#src/console/login-guard.js';

describe('the guard of the login', () => {
  let nowMs = 0;
  const isHeldOff = (guard: LoginGuard, address: string) => {
    try {
      guard.enter(address);
      return false;
    } catch {
      return true;
    }
  };
  const wrong = (guard: LoginGuard, address: string, times: number) => {
    for (let nth = 0; nth < times; nth += 1) guard.wrong(address);
  };

  it('counts within the minute that the first wrong login began', () => {
    const guard = new LoginGuard(() => nowMs);
    wrong(guard, '192.0.2.9', 4);
    nowMs += 59_999;
    expect(isHeldOff(guard, '192.0.2.9')).to.equal(false);
    guard.wrong('192.0.2.9');
    expect(isHeldOff(guard, '192.0.2.9')).to.equal(true);
    nowMs += 1;
    expect(isHeldOff(guard, '192.0.2.9')).to.equal(false);
  });

  it('takes an address of IPv4 for the same in either notation', () => {
    const guard = new LoginGuard(() => nowMs);
    wrong(guard, '::ffff:192.0.2.1', 5);
    expect(isHeldOff(guard, '192.0.2.1')).to.equal(true);
    expect(isHeldOff(guard, '192.0.2.2')).to.equal(false);
  });

  for (const [first, second, isSame] of [
    ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::', true],
    ['2001:db8::', '2001:db8:0:0:1::', true],
    ['::1', '::2', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ] as const)
    it(`takes ${first} and ${second} for ${isSame ? 'one network' : 'two'}`, () => {
      const guard = new LoginGuard(() => nowMs);
      wrong(guard, first, 5);
      expect(isHeldOff(guard, second)).to.equal(isSame);
    });

  it('takes all that is no address for one', () => {
    const guard = new LoginGuard(() => nowMs);
    for (const address of ['', 'unknown', 'x'.repeat(10_000), '1.2.3', '_hidden']) guard.wrong(address);
    expect(isHeldOff(guard, 'another')).to.equal(true);
    expect(isHeldOff(guard, '192.0.2.1')).to.equal(false);
  });

  it('remembers a bounded number of addresses, of which the oldest go first', () => {
    const guard = new LoginGuard(() => nowMs);
    const nth = (at: number) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
    for (let at = 0; at < 10_001; at += 1) wrong(guard, nth(at), 5);
    expect([isHeldOff(guard, nth(0)), isHeldOff(guard, nth(1)), isHeldOff(guard, nth(10_000))]).to.deep.equal(
      [false, true, true],
    );
  });
});

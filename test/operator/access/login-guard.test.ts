import { expect } from 'chai';
import type { Meters } from '#src/plugin/contract/live.js';
import { LoginGuard } from '#src/operator/access/login-guard.js';
import { MemoryMeters } from '#src/state/live/memory/meters.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';

describe('the guard of the login', () => {
  let nowMs = 0;
  const newGuard = (meters: Meters = new MemoryMeters(() => nowMs)) =>
    new LoginGuard({ meters, secret: Buffer.from('secret') });
  const isHeldOff = (guard: LoginGuard, address: string) =>
    guard.enter(address).then(
      () => false,
      () => true,
    );
  const wrong = async (guard: LoginGuard, address: string, times = 1) => {
    for (let nth = 0; nth < times; nth += 1) await guard.try(address);
  };

  it('counts within the minute that the first wrong login began', async () => {
    const guard = newGuard();
    await wrong(guard, '192.0.2.9', 4);
    nowMs += 59_999;
    expect(await isHeldOff(guard, '192.0.2.9')).to.equal(false);
    await wrong(guard, '192.0.2.9');
    expect(await isHeldOff(guard, '192.0.2.9')).to.equal(true);
    nowMs += 1;
    expect(await isHeldOff(guard, '192.0.2.9')).to.equal(false);
  });

  it('takes an address of IPv4 for the same in either notation', async () => {
    const guard = newGuard();
    await wrong(guard, '::ffff:192.0.2.1', 5);
    expect(await isHeldOff(guard, '192.0.2.1')).to.equal(true);
    expect(await isHeldOff(guard, '192.0.2.2')).to.equal(false);
  });

  for (const [first, second, isSame] of [
    ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::', true],
    ['2001:db8::', '2001:db8:0:0:1::', true],
    ['2001:db8::', '2001:0db8:0000:0000::1', true],
    ['::1', '::2', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ] as const)
    it(`takes ${first} and ${second} for ${isSame ? 'one network' : 'two'}`, async () => {
      const guard = newGuard();
      await wrong(guard, first, 5);
      expect(await isHeldOff(guard, second)).to.equal(isSame);
    });

  it('takes all that is no address for one', async () => {
    const guard = newGuard();
    for (const address of ['', 'unknown', 'x'.repeat(10_000), '1.2.3', '_hidden'])
      await wrong(guard, address);
    expect(await isHeldOff(guard, 'another')).to.equal(true);
    expect(await isHeldOff(guard, '192.0.2.1')).to.equal(false);
  });

  it('holds back more than five at once, and does not count those that were right', async () => {
    const guard = newGuard();
    for (let nth = 0; nth < 20; nth += 1) await (await guard.try('192.0.2.1'))();
    const tried = Array.from({ length: 20 }, () =>
      guard.try('192.0.2.1').then(
        () => 1,
        () => 0,
      ),
    );
    expect((await Promise.all(tried)).reduce<number>((sum, one) => sum + one, 0)).to.equal(5);
  });

  it('counts for all instances', async () => {
    const hub = new MemoryHub({ now: () => nowMs });
    const [one, two] = [newGuard(hub.connect().meters), newGuard(hub.connect().meters)];
    await wrong(one, '192.0.2.1', 3);
    await wrong(two, '192.0.2.1', 2);
    expect([await isHeldOff(one, '192.0.2.1'), await isHeldOff(two, '192.0.2.1')]).to.deep.equal([
      true,
      true,
    ]);
  });

  it('keeps a bounded number of counts, none of which tells an address', async () => {
    const names = new Set<string>();
    const meters = new MemoryMeters(() => nowMs);
    const take = meters.take.bind(meters);
    meters.take = (name, ...rest) => take(names.add(name) && name, ...rest);
    const guard = newGuard(meters);
    for (let nth = 0; nth < 1000; nth += 1) await wrong(guard, `10.0.${nth >> 8}.${nth & 255}`);
    expect(names.size).to.be.within(900, 1000);
    for (const name of names) expect(name).to.match(/^console-logins\/[0-9a-f]{4}$/);
  });
});

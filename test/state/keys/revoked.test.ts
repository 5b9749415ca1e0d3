import { expect } from 'chai';
import { openCallerKeys } from '#src/gateway/caller-keys.js';
import { issueAdminToken } from '#src/state/keys/admin-tokens.js';
import { issueKey, makeKeySecret } from '#src/state/keys/keys.js';
import { MemoryHub } from '#src/state/live/memory/hub.js';
import { MemoryStore } from '#src/state/store/memory/store.js';
import { clockAt } from '../../clock-at.js';
import { quiet } from '../store/stores.js';

describe('what was revoked', () => {
  let nowMs = 1_000_000;
  let store: MemoryStore;
  const clock = clockAt(() => nowMs);
  let isGone: boolean;
  let opened: readonly ReturnType<typeof openCallerKeys>[];
  const { text: keyText, key } = issueKey({ name: 'ci' }, nowMs);
  const { text: tokenText, token } = issueAdminToken({ name: 'ci', scopes: ['*'], createdBy: 'a' }, nowMs);

  beforeEach(async () => {
    isGone = false;
    nowMs = 1_000_000;
    store = new MemoryStore({ now: () => nowMs });
    await store.keys.put(key);
    await store.adminTokens.add(token);
    const whileThere =
      <Found>(find: (hash: string) => Promise<Found>) =>
      async (hash: string) => {
        if (isGone) throw new Error('the store is gone');
        return find(hash);
      };
    const { keys, adminTokens, teams } = store;
    const failing = {
      teams,
      keys: { ...keys, findByHash: whileThere((hash) => keys.findByHash(hash)) },
      adminTokens: { ...adminTokens, findByHash: whileThere((hash) => adminTokens.findByHash(hash)) },
    };
    const hub = new MemoryHub();
    const open = () =>
      openCallerKeys({ masterKey: '', store: failing, live: hub.connect(), log: quiet, clock });
    opened = [open(), open()];
  });
  afterEach(() => Promise.all(opened.map((each) => each.close())));

  const checks = () =>
    opened.flatMap(({ keys, adminTokens }) =>
      [keys.check(keyText), adminTokens.check(tokenText)].map((check) =>
        check.then(
          (found) => found !== undefined,
          () => false,
        ),
      ),
    );

  it('is let in on no instance, also where the store goes away before it is tried again', async () => {
    expect(await Promise.all(checks())).to.deep.equal([true, true, true, true]);
    isGone = true;
    opened[0]!.keysChanged();
    expect(await Promise.all(checks())).to.deep.equal([true, true, true, true]);
    opened[0]!.keysChanged(key.hash);
    expect(await Promise.all(checks())).to.deep.equal([false, true, false, true]);
    opened[1]!.keysChanged(token.hash);
    expect(await Promise.all(checks())).to.deep.equal([false, false, false, false]);
  });

  it('is no secret before a rotation after its grace, also where the store is gone', async () => {
    const { text, secret } = makeKeySecret();
    await store.keys.rotate(key.id, secret, nowMs + 1000);
    const lets = async () => {
      const sent = opened.flatMap(({ keys }) => [keys.check(keyText), keys.check(text)]);
      return (await Promise.all(sent)).map((found) => found !== undefined);
    };
    expect(await lets()).to.deep.equal([true, true, true, true]);
    isGone = true;
    nowMs += 999;
    expect(await lets()).to.deep.equal([true, true, true, true]);
    nowMs += 1;
    expect(await lets()).to.deep.equal([false, true, false, true]);
  });
});

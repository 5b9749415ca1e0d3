import { expect } from 'chai';
import type { WholeStore } from '#src/state/store/contract/store.js';
import { openStore } from '#src/state/store/index.js';
import { eventually } from '../../eventually.js';
import { livedMs } from '../../lived-ms.js';
import { TcpProxy, throughProxy } from '../../tcp-proxy.js';
import { key } from './conformance.js';
import { ownPostgres, postgresUrl, quiet, secretKey } from './stores.js';

describe('a store whose PostgreSQL goes away', () => {
  if (postgresUrl === undefined) it('is tested where GW_TEST_POSTGRES_URL names a server');
  else describeAbsence(postgresUrl);
});

function describeAbsence(server: string): void {
  let proxy: TcpProxy;
  let store: WholeStore;
  let direct: WholeStore;
  let remove: () => Promise<void>;
  const logged: string[] = [];
  beforeEach(async () => {
    const place = await ownPostgres(server);
    const { hostname, port } = new URL(server);
    proxy = await TcpProxy.start(hostname, Number(port || 5432));
    const through = { ...place.where, url: throughProxy(place.where.url, proxy) };
    logged.length = 0;
    const note = (_fields: object, message: string) => void logged.push(message);
    store = await openStore(through, { secretKey, log: { ...quiet, warn: note, info: note } });
    direct = await openStore(place.where, { secretKey, log: quiet });
    remove = place.remove;
  });
  afterEach(async () => {
    await Promise.all([store.close(), direct.close()]);
    await proxy.close();
    await remove();
  });

  const expiresAtMs = Date.now() + 3_600_000;
  const took = (work: () => Promise<unknown>) => livedMs(() => work().catch(() => undefined));

  for (const [how, harm] of [
    ['is cut off', () => proxy.cut()],
    ['freezes', () => proxy.freeze()],
  ] as const)
    describe(`and ${how}`, () => {
      beforeEach(async () => {
        await store.keys.put(key('k'));
        await store.bindings.put('known', { slotId: 'a', expiresAtMs });
        harm();
      });

      it('is waited for once, and then not until it answers', async () => {
        const reads = Array.from({ length: 20 }, (_, at) => store.bindings.get(`session ${at}`));
        expect(await took(() => Promise.all(reads))).to.be.below(1500);
        await eventually(() => store.isDown);
        expect(await took(() => store.bindings.get('known'))).to.be.below(50);
        expect(await took(() => store.bindings.put('other', { slotId: 'a', expiresAtMs }))).to.be.below(50);
        expect(await took(() => store.keys.findByHash('hash of k'))).to.be.below(50);
        expect(await store.bindings.get('known')).to.equal(undefined);
        expect(await store.keys.findByHash('hash of k').catch(causeOf)).to.match(
          /^PostgreSQL at 127\.0\.0\.1:\d+ is away\.$/,
        );
        expect(await store.spaces.get('a', 'k').catch(causeOf)).to.include('is away');
        proxy.forward();
        await eventually(() => !store.isDown);
        expect(await store.keys.findByHash('hash of k')).to.deep.equal(key('k'));
        expect(logged.map((line) => line.replace(/:\d+/, ''))).to.deep.equal([
          'PostgreSQL at 127.0.0.1 is unavailable; requests continue without it until it answers.',
          'PostgreSQL at 127.0.0.1 answers again.',
        ]);
      });

      it('is brought the bindings and responses that were written meanwhile', async () => {
        await store.bindings.put('known', { slotId: 'b', expiresAtMs });
        await store.bindings.put('new', { slotId: 'a', expiresAtMs });
        await store.bindings.put('gone', { slotId: 'a', expiresAtMs });
        await store.bindings.delete('gone');
        const response = { id: 'r', owner: 'k', input: [], response: { id: 'r' }, expiresAtMs };
        await store.responses.put(response);
        expect(await store.bindings.get('known')).to.deep.equal({ slotId: 'b', expiresAtMs });
        expect(await store.bindings.get('gone')).to.equal(undefined);
        expect(await store.responses.get('k', 'r')).to.deep.equal(response);
        expect(await store.responses.get('another', 'r').catch(() => 'away')).to.equal('away');
        proxy.forward();
        await eventually(async () => (await direct.responses.get('k', 'r')) !== undefined);
        await eventually(async () => (await direct.bindings.get('known'))?.slotId === 'b');
        await eventually(async () => (await direct.bindings.get('new')) !== undefined);
        expect(await direct.bindings.get('new')).to.deep.equal({ slotId: 'a', expiresAtMs });
        expect(await direct.bindings.get('gone')).to.equal(undefined);
      });

      it('is found out where nobody asks', async () => {
        await eventually(() => store.isDown);
      });
    });

  it('is not taken for away where it refuses something', async () => {
    const refused = await store.keys.findByHash('no \u0000 in text').catch((error: Error) => error.message);
    expect(refused).to.match(/invalid byte sequence/);
    expect(store.isDown).to.equal(false);
  });
}

/** What a request is told is a 503 with a sentence that names no server. */
function causeOf(error: unknown): string {
  expect(error).to.include({ code: 'store_unavailable', status: 503 });
  const { cause, message } = error as Error;
  expect(message).to.not.include('127.0.0.1');
  return (cause as Error).message;
}

import type { LookupFunction } from 'node:net';
import { expect } from 'chai';
import { AddressGuard, type AddressGuardOptions } from '#src/engine/transport/address-guard.js';
import { isLinkLocal } from '#src/kit/addresses.js';
import { requestToken } from '#plugins/accounts/shared/token-endpoint.js';
import { openEgress } from '#src/engine/transport/connections.js';
import { openHttpClient } from '#src/engine/transport/http-client.js';
import { HttpCall } from '#src/engine/transport/http-call.js';
import { rejection, silent } from './upstream-kit.js';
import { systemClock } from '@gw2api/gateway/plugin';

/** A network without packets: names resolve as `names` says, and each socket that would be opened is noted and refused. */
class PaperNetwork implements AddressGuardOptions {
  readonly names: Record<string, readonly string[]> = {};
  readonly lookups: string[] = [];
  /** The addresses that sockets would have connected to. */
  readonly connected: string[] = [];

  readonly lookup = ((hostname, options, callback) => {
    this.lookups.push(hostname);
    const found = (this.names[hostname] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
    const [first] = found;
    if (!first) callback(new Error(`no such name: ${hostname}`), '', 0);
    else if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  }) satisfies LookupFunction;

  readonly connectorOf: NonNullable<AddressGuardOptions['connectorOf']> = (options) => (target, callback) => {
    const { lookup } = options as { readonly lookup: LookupFunction }; // the guard has set it
    const end = (address: string) => {
      this.connected.push(address);
      callback(new Error('paper'), null);
    };
    if (/^[\d.]+$|:/.test(target.hostname)) return end(target.hostname);
    lookup(target.hostname, { all: true }, (error, found) => {
      if (error) callback(error, null);
      else for (const { address } of found as { address: string }[]) end(address);
    });
  };
}

describe('a guarded connection', () => {
  let network: PaperNetwork;
  let guard: AddressGuard;
  beforeEach(() => {
    network = new PaperNetwork();
    guard = new AddressGuard(network);
  });
  afterEach(() => expect(network.connected.filter(isLinkLocal)).to.deep.equal([]));

  /** What a call over a way out ends with. */
  async function call(origin: string, proxy?: string): Promise<string> {
    const egress = openEgress({
      origin,
      connectTimeoutMs: 5000,
      guard,
      ...(proxy !== undefined && { proxy }),
    });
    const outgoing = new HttpCall({
      slot: 'a',
      method: 'GET',
      path: '/',
      headers: {},
      signal: new AbortController().signal,
      connectTimeoutMs: 5000,
      headersTimeoutMs: 5000,
      idleTimeoutMs: 5000,
    });
    const error = await rejection(outgoing.send(egress));
    await egress.close();
    return causes(error);
  }

  const bad = ['169.254.169.254', '[fe80::1]', '[::ffff:a9fe:a9fe]', '100.100.100.200', '2852039166'];
  const refused = /is a link-local or metadata address/;

  for (const host of bad) {
    it(`is not made to ${host}, plain or by TLS`, async () => {
      for (const scheme of ['http', 'https']) expect(await call(`${scheme}://${host}:81`)).to.match(refused);
      expect(network.connected).to.deep.equal([]);
    });

    it(`is not made to the proxy ${host}, nor to ${host} through a proxy`, async () => {
      expect(await call('http://upstream.test', `http://${host}:81`)).to.match(refused);
      expect(() =>
        openEgress({ origin: `http://${host}`, proxy: 'http://127.0.0.1:9', connectTimeoutMs: 1, guard }),
      ).to.throw(refused);
      expect(network.connected).to.deep.equal([]);
    });
  }

  it('is not made to a name that means such an address, whatever else it means', async () => {
    network.names['bad.test'] = ['169.254.169.254'];
    network.names['both.test'] = ['127.0.0.1', '::ffff:169.254.169.254'];
    for (const origin of ['http://bad.test', 'https://bad.test', 'http://both.test'])
      expect(await call(origin)).to.match(refused);
    expect(await call('http://upstream.test', 'http://bad.test:3128')).to.match(refused);
    expect(network.connected).to.deep.equal([]);
  });

  it('looks at each socket’s address, so that a name which changes its mind is refused', async () => {
    network.names['rebind.test'] = ['127.0.0.1'];
    expect(await call('http://rebind.test')).to.include('paper');
    network.names['rebind.test'] = ['169.254.169.254'];
    expect(await call('http://rebind.test')).to.match(refused);
    expect(network.connected).to.deep.equal(['127.0.0.1']);
    expect(network.lookups).to.deep.equal(['rebind.test', 'rebind.test']);
  });

  it('is made to any other address, and through a proxy to names that the proxy resolves', async () => {
    network.names['proxy.test'] = ['10.0.0.7'];
    expect(await call('http://10.0.0.1')).to.include('paper');
    expect(await call('http://bad.test', 'http://proxy.test')).to.include('paper');
    expect(network.connected).to.deep.equal(['10.0.0.1', '10.0.0.7']);
  });

  describe('of a token endpoint', () => {
    const settings = { id: 'a', headers: {}, connectTimeoutMs: 5000, log: silent };

    const refresh = async (tokenUrl: string, proxy?: string) =>
      causes(
        await rejection(
          requestToken(
            { tokenUrl, form: { grant_type: 'refresh_token' }, cure: () => 'sign in again' },
            {
              slot: { id: 'a' },
              now: () => 0,
              clock: systemClock,
              connect: (baseUrl) =>
                openHttpClient({ ...settings, baseUrl, guard, ...(proxy !== undefined && { proxy }) }),
            },
          ),
        ),
      );

    it('is not made to such an address, by its name, or by way of a proxy', async () => {
      network.names['bad.test'] = ['169.254.169.254'];
      for (const host of [...bad, 'bad.test']) {
        expect(await refresh(`http://${host}/token`), host).to.match(refused);
        expect(await refresh('http://token.test/token', `http://${host}:3128`), host).to.match(refused);
      }
      for (const host of bad)
        expect(await refresh(`http://${host}/token`, 'http://127.0.0.1:9'), host).to.match(refused);
      expect(network.connected).to.deep.equal([]);
    });

    it('is made to any other', async () => {
      network.names['token.test'] = ['10.0.0.9'];
      expect(await refresh('http://token.test/token')).to.include('paper');
      expect(network.connected).to.deep.equal(['10.0.0.9']);
    });
  });
});

/** The messages of an error and of its causes. */
function causes(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return `${error.message}\n${causes(error.cause)}`;
}

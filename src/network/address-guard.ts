import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { isLinkLocal, whyRefused } from './addresses.js';
import { connectorOf } from './undici.js';

/** The lookup and the connector of a guard; tests inject their own. */
export interface Connecting {
  readonly lookup?: LookupFunction;
  /** Makes what opens a socket to a host, which `lookup` resolves unless it is an address already. */
  readonly connectorOf?: (options: buildConnector.BuildOptions) => buildConnector.connector;
}

/**
 * Guard against connections to link-local and metadata addresses: checks literal hosts, and again the
 * resolved address before the socket connects.
 */
export class AddressGuard {
  readonly #lookup: LookupFunction;
  readonly #connectorOf: NonNullable<Connecting['connectorOf']>;

  constructor({ lookup = dns.lookup, connectorOf: make = connectorOf }: Connecting = {}) {
    this.#lookup = lookup;
    this.#connectorOf = make;
  }

  /** A connector for undici that checks each address. */
  connector(options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = this.#connectorOf({ ...options, lookup: this.#checkedLookup });
    return (target, callback) => {
      if (isLinkLocal(target.hostname)) callback(new RefusedAddressError(target.hostname), null);
      else connect(target, callback);
    };
  }

  /** Throws if a host is such an address, for a proxied path whose names are resolved elsewhere. */
  check(host: string): void {
    if (isLinkLocal(host)) throw new RefusedAddressError(host);
  }

  /** Refuses a name if any of its addresses is link-local: no name has both kinds for a good reason. */
  readonly #checkedLookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const bad = error ? undefined : addresses.find(isLinkLocal);
      if (bad === undefined) callback(error, found, family);
      else callback(new RefusedAddressError(hostname, bad), found, family);
    });
  };
}

class RefusedAddressError extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED';

  constructor(host: string, address = host) {
    super(`${host === address ? host : `${host} (${address})`} ${whyRefused}.`);
    this.name = 'RefusedAddressError';
  }
}

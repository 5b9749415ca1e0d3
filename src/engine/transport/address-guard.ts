import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isLinkLocal, whyRefused } from '../../kit/addresses.js';

/** Name resolution and connector of a guard; tests inject their own. */
export interface AddressGuardOptions {
  readonly lookup?: LookupFunction;
  /** Builds the connector that opens the sockets; it resolves names by `options.lookup`. */
  readonly connectorOf?: (options: buildConnector.BuildOptions) => buildConnector.connector;
}

/**
 * Guard against connections to link-local and metadata addresses: checks literal hosts, and again the
 * resolved address before the socket connects.
 */
export class AddressGuard {
  readonly #lookup: LookupFunction;
  readonly #connectorOf: NonNullable<AddressGuardOptions['connectorOf']>;

  constructor({ lookup = dns.lookup, connectorOf = buildConnector }: AddressGuardOptions = {}) {
    this.#lookup = lookup;
    this.#connectorOf = connectorOf;
  }

  /** A connector for undici that checks each address. */
  connector(options: buildConnector.BuildOptions): buildConnector.connector {
    const connect = this.#connectorOf({ ...options, lookup: this.#checkedLookup });
    return (target, callback) => {
      if (isLinkLocal(target.hostname)) callback(new RefusedAddressError(target.hostname), null);
      else connect(target, callback);
    };
  }

  /** Throws for a literal link-local address; used behind a proxy, which resolves the names itself. */
  check(host: string): void {
    if (isLinkLocal(host)) throw new RefusedAddressError(host);
  }

  /** Refuses a name if any of its addresses is link-local: no name has both kinds for a good reason. */
  readonly #checkedLookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const refused = error ? undefined : addresses.find(isLinkLocal);
      if (refused === undefined) callback(error, found, family);
      else callback(new RefusedAddressError(hostname, refused), found, family);
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

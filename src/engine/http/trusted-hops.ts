import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Networks } from '../../kit/networks.js';

/**
 * Proxies in front of the gateway whose `x-forwarded-*` headers are trusted: a number of hops, or networks (CIDR).
 */
export type TrustProxy = false | number | readonly string[];

/** Trusted proxies between the callers and this gateway. */
export class TrustedHops {
  readonly #count: number;
  readonly #networks: Networks | undefined;

  constructor(trust: Exclude<TrustProxy, false>) {
    this.#count = typeof trust === 'number' ? trust : 0;
    this.#networks = typeof trust === 'number' ? undefined : new Networks(trust);
  }

  /** False for a connection that comes from none of the networks. */
  believes({ remoteAddress = '' }: { readonly remoteAddress?: string | undefined }): boolean {
    return this.#networks?.has(remoteAddress) ?? true;
  }

  /** Removes the headers by which an untrusted connection names another caller, host or protocol. */
  clean({ socket, headers }: IncomingMessage): void {
    if (!this.believes(socket)) for (const name of forwardedHeaders) delete headers[name];
  }

  /** Address of the caller in `x-forwarded-for`, of a trusted connection; empty if it names none. */
  callerIn({ 'x-forwarded-for': header }: IncomingHttpHeaders): string {
    if (header === undefined) return '';
    const hops = String(header).split(',').map(withoutPort).filter(Boolean);
    const networks = this.#networks;
    const at = networks ? hops.findLast((hop) => !networks.has(hop)) : hops.at(-this.#count);
    return at ?? hops[0] ?? '';
  }
}

/** Trusted proxies as configured; undefined if no proxy is trusted. */
export function trustedHops({ trustProxy }: { readonly trustProxy: TrustProxy }): TrustedHops | undefined {
  return trustProxy === false ? undefined : new TrustedHops(trustProxy);
}

const forwardedHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

/** Address of `192.0.2.1:443` and `[2001:db8::1]:443`, as some proxies write it. */
function withoutPort(hop: string): string {
  const text = hop.trim();
  const [, address] = /^\[([\da-f:.]+)\](?::\d+)?$/i.exec(text) ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text) ?? [];
  return address ?? text;
}

import type { TlsSettings } from '../contract/slot/upstream.js';

/** Options of a TLS connection, except for the name; a certificate that is trusted itself needs no issuer. */
export function tlsOptions({ ca, cert, key }: TlsSettings = {}): object {
  return {
    ...(ca !== undefined && { ca, allowPartialTrustChain: true }),
    ...(cert !== undefined && { cert, key }),
  };
}

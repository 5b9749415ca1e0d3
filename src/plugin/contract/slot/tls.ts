/** TLS of connections, as texts in PEM. */
export interface TlsSettings {
  /** Certificates that are trusted instead of the public ones; may be the server's own. */
  readonly ca?: string;
  /** Client certificate, with its key. */
  readonly cert?: string;
  readonly key?: string;
  /** Server name to request, which its certificate must have; default: the host. */
  readonly servername?: string;
}

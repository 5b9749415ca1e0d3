import type { PostgresHost } from './address.js';

/** SQLSTATEs of connections to close: the next one may reach another server, or have the permission. */
const endsConnection: ReadonlySet<string> = new Set(['25006', '3D000', '42501']);

/** SQLSTATEs of a server with no usable connections. */
const endsAll: ReadonlySet<string> = new Set(['25006', '3D000']);

/** SQLSTATE of a server that accepts no further connection. */
export const tooManyConnections = '53300';

/** True if the connection of a failed query is to be closed; its query may still run, or its server is unusable. */
export function isOfConnection(error: unknown): boolean {
  return endsConnection.has(codeOf(error)) || messageOf(error) === 'Query read timeout';
}

/** True if all connections to the same host are to be closed with it. */
export function isOfHost(error: unknown): boolean {
  return endsAll.has(codeOf(error));
}

/** Error of the pool of node-postgres, which has no code: no connection became free in time. */
export function isPoolBusy(error: unknown): boolean {
  return messageOf(error) === 'timeout exceeded when trying to connect';
}

/** Error of a read-only server, detected before a write. */
export class ReadOnlyError extends Error {
  /** SQLSTATE of a write in a read-only transaction. */
  readonly code = '25006';

  constructor() {
    super('it is read-only: a standby, or default_transaction_read_only is on');
  }
}

/** Error of a connection attempt, with the most specific SQLSTATE or code of Node. */
export class NoConnectionError extends Error {
  readonly code: string;

  constructor(failures: readonly { readonly host: PostgresHost; readonly error: unknown }[]) {
    const [first] = failures;
    // A standby is expected where its primary is away.
    const { error } = failures.find(({ error }) => codeOf(error) !== '25006') ??
      first ?? { error: undefined };
    const texts = failures.map(({ host, error }) => `${host.label}: ${messageOf(error)}`);
    super(failures.length === 1 ? messageOf(error) : texts.join('; '), { cause: error });
    this.code = codeOf(error);
  }
}

/** SQLSTATE, or a code of the system; empty: none. */
export function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown }; // fields of any value
  return typeof code === 'string' && !code.startsWith('ERR_') ? code : '';
}

/** Message of an error; the code if it has none, as for several addresses of one name. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)) || codeOf(error);
}

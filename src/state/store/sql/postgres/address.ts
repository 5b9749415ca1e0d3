import { toTls, type TlsParameters } from './tls.js';

/** Address of a PostgreSQL database, on one host or on several, one of which accepts writes. */
export interface PostgresAddress {
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly PostgresHost[];
  /** User, password and database are empty if the address has none. */
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Parameters that go to the server, such as `options`, under the names of the driver. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly tls: TlsParameters;
}

export interface PostgresHost {
  /** Host and port as written, safe to log. */
  readonly label: string;
  /** Name, IP address, or folder of a Unix socket; empty: the default of the driver. */
  readonly host: string;
  /** Undefined: the default of the driver. */
  readonly port: number | undefined;
}

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`; `?host=/FOLDER` is a Unix socket.
 * Throws an Error that describes the error without repeating the address, which may hold a password.
 */
export function toPostgresAddress(text: string): PostgresAddress {
  const match = form.exec(text);
  if (!match) throw new Error('must be "postgres://USER@HOST/DATABASE", with its password percent-encoded');
  const [, login = '', authority = '', path = '', query = ''] = match;
  const parameters = new URLSearchParams(query);
  refuseOthers(parameters);
  const [user = '', ...password] = login.split(':');
  return {
    hosts: toHosts(authority, parameters),
    user: parameters.get('user') ?? decoded(user),
    password: parameters.get('password') ?? decoded(password.join(':')),
    database: parameters.get('dbname') ?? decoded(path),
    parameters: Object.fromEntries([...parameters].filter(([name]) => passedOn.has(name))),
    tls: toTls(parameters),
  };
}

/** The address without its password, for a command shown to an operator. */
export function withoutPassword(address: string): string {
  return address
    .replace(/^([a-z]+:\/\/[^:@/?#]*):[^@/?#]*@/i, '$1@')
    .replaceAll(/([?&])password=[^&]*&?/g, '$1')
    .replace(/[?&]$/, '');
}

/** Hosts and ports as they are logged. */
export function labelOf({ hosts }: PostgresAddress): string {
  return hosts.map(({ label }) => label).join(',');
}

const form = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^@?#]*))?(?:\?([^#]*))?$/;

/** Parameters that the driver sends to the server. Others, of other drivers, are left out. */
const passedOn: ReadonlySet<string> = new Set([
  'application_name',
  'client_encoding',
  'fallback_application_name',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'options',
  'statement_timeout',
]);

/** Values of `target_session_attrs` that match a writable server. */
const writable: ReadonlySet<string> = new Set(['read-write', 'primary', 'any']);

function refuseOthers(parameters: URLSearchParams): void {
  const schema = ['schema', 'currentSchema', 'search_path'].find((name) => parameters.has(name));
  if (schema !== undefined)
    throw new Error(
      `has the parameter "${schema}", which PostgreSQL does not have; use ?options=-c search_path=NAME`,
    );
  if (!writable.has(parameters.get('target_session_attrs') ?? 'read-write'))
    throw new Error(
      'has a target_session_attrs for servers that accept no writes; it may be read-write, primary or any',
    );
}

function toHosts(authority: string, parameters: URLSearchParams): readonly PostgresHost[] {
  const written = authority.split(',').map(toHost);
  const names = parameters.get('host')?.split(',') ?? written.map(({ name }) => name);
  const ports = parameters.get('port')?.split(',') ?? written.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== names.length)
    throw new Error('must have one port for all of its hosts, or one for each');
  return names.map((name, at) => {
    if (names.length > 1 && name === '') throw new Error('has an empty name in its list of hosts');
    if (/[\s@]/.test(name)) throw new Error('has a host with a space or an "@" in its name');
    const port = toPort(ports.length === 1 ? ports[0] : ports[at]);
    const shown = name.includes(':') && !name.startsWith('/') ? `[${name}]` : name || 'localhost';
    return { label: port === undefined ? shown : `${shown}:${port}`, host: name, port };
  });
}

function toHost(text: string): { readonly name: string; readonly port: string } {
  const [whole, address, name = '', port = ''] =
    /^(?:\[([\da-f:.]+)\]|([^:[\]]*))(?::(\d*))?$/i.exec(text) ?? [];
  if (whole === undefined)
    throw new Error('must name its hosts as HOST:PORT, and the folder of a socket as ?host=/FOLDER');
  return { name: address ?? decoded(name), port };
}

function toPort(text = ''): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= 65_535) return Number(text);
  throw new Error('must have ports from 1 to 65535');
}

/** Decodes `%40`; a "%" that begins no code stays. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    throw new Error('must have its password percent-encoded in UTF-8 ("%" is written "%25")');
  }
}

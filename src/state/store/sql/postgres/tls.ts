import { readFile } from 'node:fs/promises';
import type { ClientConfig } from 'pg';

/** TLS of an address, as in its parameters. */
export interface TlsParameters {
  /** Undefined: that of the environment (PGSSLMODE), by default none. */
  readonly mode: SslMode | undefined;
  /** Reads `require` and `prefer` as libpq does, which verifies no certificate unless one is given. */
  readonly isLibpq: boolean;
  /** Files in PEM, relative to the working directory, by the parameters that name them. */
  readonly files: Readonly<Partial<Record<FileParameter, string>>>;
}

type FileParameter = keyof typeof fileOptions;
type SslMode = (typeof sslModes)[number];

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;

/** Options of the driver, by the parameter that names the file. */
const fileOptions = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;
const fileParameters = Object.keys(fileOptions) as readonly FileParameter[]; // a literal has no others

/** Reads the parameters of an address. Throws an Error with the allowed modes. */
export function toTls(parameters: URLSearchParams): TlsParameters {
  const files = fileParameters.flatMap((name) => {
    const file = parameters.get(name);
    return file ? [[name, file] as const] : [];
  });
  const mode = modeOf(parameters) ?? (files.length > 0 ? 'verify-full' : undefined);
  return { mode, isLibpq: parameters.get('uselibpqcompat') === 'true', files: Object.fromEntries(files) };
}

function modeOf(parameters: URLSearchParams): SslMode | undefined {
  const [mode, ssl] = [parameters.get('sslmode'), parameters.get('ssl')];
  if (mode === null && ssl === null) return undefined;
  const known = mode === null ? older.get(ssl ?? '') : sslModes.find((each) => each === mode);
  if (known === undefined) throw new Error(`has an unknown sslmode; it may be ${sslModes.join(', ')}`);
  return known;
}

/** Modes by `ssl=`, which node-postgres knows beside `sslmode`. */
const older: ReadonlyMap<string, SslMode> = new Map([
  ['true', 'verify-full'],
  ['1', 'verify-full'],
  ['false', 'disable'],
  ['0', 'disable'],
  ['no-verify', 'no-verify'],
]);

/**
 * TLS options of the driver for a host. Reads the files at each call, so that new connections use replaced ones; throws
 * an Error that names the parameter and its file.
 */
export async function tlsOptions(parameters: TlsParameters, host: string): Promise<ClientConfig['ssl']> {
  const { mode, files } = parameters;
  if (mode === undefined) return undefined;
  if (mode === 'disable' || host.startsWith('/')) return false;
  const options: Partial<Record<'ca' | 'cert' | 'key', string>> = {};
  for (const name of fileParameters) {
    const file = files[name];
    if (file !== undefined && file !== systemCertificates)
      options[fileOptions[name]] = await read(name, file);
  }
  const verification = verificationOf(parameters);
  if (verification === 'none') return { ...options, rejectUnauthorized: false };
  return verification === 'chain' ? { ...options, checkServerIdentity: () => undefined } : options;
}

/** `chain`: verifies the certificate, but not its name. */
function verificationOf({ mode, isLibpq, files }: TlsParameters): 'none' | 'chain' | 'full' {
  if (mode === 'no-verify') return 'none';
  const hasOwn = files.sslrootcert !== undefined && files.sslrootcert !== systemCertificates;
  if (mode === 'verify-ca') return hasOwn ? 'chain' : 'full';
  if (mode === 'verify-full' || !isLibpq) return 'full';
  return mode === 'require' && hasOwn ? 'chain' : 'none';
}

/** Name in `sslrootcert` of the public certificates. */
const systemCertificates = 'system';

async function read(name: FileParameter, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException; // of the file system
    throw new Error(`${name}: the file ${file} cannot be read (${code})`, { cause: error });
  }
}

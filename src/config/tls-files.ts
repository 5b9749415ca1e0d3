import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Static } from 'typebox';
import { Closed, Type, type SchemaError, type TlsSettings } from '../plugin/internal.js';

const File = Type.Optional(Type.String({ minLength: 1 }));

/** Schema of `tls:`: files of PEM, relative to the config, and the name that the certificate is of. */
export const TlsFiles = Closed({ ca: File, cert: File, key: File, servername: File });

/** TLS of a config: what it says, and what is in the files that it names. */
export interface TlsConfig {
  readonly settings: TlsSettings;
  /** Names of the files with the beginning of their digest, for those who compare two configs. */
  readonly shown: Readonly<Record<string, string>>;
}

type Files = Static<typeof TlsFiles>;
type Part = 'ca' | 'cert' | 'key';

const parts: readonly Part[] = ['ca', 'cert', 'key'];

/** Reading of `tls:`; without settings where there are errors. */
export interface TlsReading {
  readonly tls: TlsConfig | undefined;
  readonly errors: readonly SchemaError[];
  /** Absolute paths of the files. */
  readonly files: readonly string[];
}

interface Place {
  readonly baseDir: string;
  /** Path of `tls` in the config. */
  readonly at: readonly (string | number)[];
}

/** Reads the files of `tls:`. Errors: a file that cannot be read or is not PEM, and a key that is not its certificate's. */
export function readTls(files: Files, place: Place): TlsReading {
  const named = parts.flatMap((part) => files[part] ?? []);
  return { ...readParts(files, place), files: named.map((file) => path.resolve(place.baseDir, file)) };
}

function readParts(files: Files, { baseDir, at }: Place): Omit<TlsReading, 'files'> {
  const missing = (['cert', 'key'] as const).filter((part) => files[part] === undefined);
  if (missing.length === 1) {
    const message = `has no ${missing[0]}: a certificate and its key go together`;
    return { tls: undefined, errors: [{ path: [...at], message }] };
  }
  const texts: Partial<Record<Part, string>> = {};
  const unread: SchemaError[] = [];
  for (const part of parts) {
    const file = files[part];
    if (file === undefined) continue;
    try {
      texts[part] = readFileSync(path.resolve(baseDir, file), 'utf8');
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException; // of the file system
      unread.push({ path: [...at, part], message: `cannot be read (${code}): ${file}` });
    }
  }
  const errors = unread.length > 0 ? unread : parts.flatMap((part) => partErrors(part, texts, at));
  return { tls: errors.length > 0 ? undefined : configOf(files, texts), errors };
}

function configOf(files: Files, texts: Partial<Record<Part, string>>): TlsConfig {
  const { servername } = files;
  const named = servername === undefined ? {} : { servername };
  const shown = parts.flatMap((part) => {
    const text = texts[part];
    return text === undefined ? [] : [[part, `${files[part]} (sha256 ${digestOf(text)})`] as const];
  });
  return { settings: { ...texts, ...named }, shown: { ...Object.fromEntries(shown), ...named } };
}

/** Errors of one file; those of a key are found together with its certificate. */
function partErrors(
  part: Part,
  { ca, cert, key }: Partial<Record<Part, string>>,
  at: readonly (string | number)[],
): readonly SchemaError[] {
  const tried = { ca: ca && { ca }, cert: cert && { cert }, key: key && { key, cert } }[part];
  if (!tried) return [];
  if (
    part !== 'key' &&
    !/-----BEGIN (?:TRUSTED )?CERTIFICATE-----/.test(part === 'ca' ? (ca ?? '') : (cert ?? ''))
  )
    return [{ path: [...at, part], message: 'has no certificate in PEM (BEGIN CERTIFICATE)' }];
  try {
    createSecureContext(tried);
    return [];
  } catch (error) {
    const { message } = error as Error; // of OpenSSL, about the form of the file and not its content
    return [{ path: [...at, part], message: `is refused by OpenSSL: ${message}` }];
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

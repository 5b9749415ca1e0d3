import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Type, type Static } from 'typebox';
import type { TlsSettings } from '../contract/slot/tls.js';
import { Closed } from '../../kit/schema/type.js';

const File = Type.Optional(Type.String({ minLength: 1 }));

/** Schema of `tls:`: PEM files, relative to the config, and the name in the certificate. */
export const TlsFiles = Closed({ ca: File, cert: File, key: File, servername: File });
export type TlsFiles = Static<typeof TlsFiles>;

export type TlsPart = 'ca' | 'cert' | 'key';

export const tlsParts: readonly TlsPart[] = ['ca', 'cert', 'key'];

export interface TlsProblem {
  /** Absent if several files are concerned. */
  readonly part?: TlsPart;
  /** Follows the name of the setting. */
  readonly message: string;
}

/** Settings of `tls:` with the texts of its files; undefined if there is any problem. */
export interface TlsFilesReading {
  readonly settings: TlsSettings | undefined;
  readonly problems: readonly TlsProblem[];
}

type Texts = Partial<Record<TlsPart, string>>;

/**
 * Reads the files of `tls:`, whose paths `resolve` makes absolute. Problems: a file that cannot be read or is not
 * PEM, a key that does not belong to its certificate, and one of the two alone.
 */
export function readTlsFiles(files: TlsFiles, resolve: (file: string) => string): TlsFilesReading {
  const missing = (['cert', 'key'] as const).filter((part) => files[part] === undefined);
  if (missing.length === 1) {
    const message = `has no ${missing[0]}: a certificate needs its key, and a key its certificate`;
    return { settings: undefined, problems: [{ message }] };
  }
  const texts: Texts = {};
  const unread: TlsProblem[] = [];
  for (const part of tlsParts) {
    const file = files[part];
    if (file === undefined) continue;
    try {
      texts[part] = readFileSync(resolve(file), 'utf8');
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException; // of the file system
      unread.push({ part, message: `cannot be read (${code}): ${file}` });
    }
  }
  const problems = unread.length > 0 ? unread : tlsParts.flatMap((part) => problemsOf(part, texts));
  if (problems.length > 0) return { settings: undefined, problems };
  const { servername } = files;
  return { settings: { ...texts, ...(servername !== undefined && { servername }) }, problems };
}

/** Problems of one file; those of a key are found together with its certificate. */
function problemsOf(part: TlsPart, texts: Texts): readonly TlsProblem[] {
  const text = texts[part];
  if (text === undefined) return [];
  if (part !== 'key' && !certificate.test(text))
    return [{ part, message: 'contains no PEM certificate (BEGIN CERTIFICATE)' }];
  try {
    createSecureContext(part === 'key' ? { key: text, cert: texts.cert } : { [part]: text });
    return [];
  } catch (error) {
    const { message } = error as Error; // of OpenSSL, about the form of the file and not its content
    return [{ part, message: `is refused by OpenSSL: ${message}` }];
  }
}

const certificate = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----/;

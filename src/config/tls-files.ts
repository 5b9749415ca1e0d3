import { createHash } from 'node:crypto';
import path from 'node:path';
import { readTlsFiles, type TlsFiles, type TlsSettings } from '../plugin/index.js';
import { tlsParts } from '../plugin/core.js';
import type { SchemaError } from '../plugin/upstream/index.js';

/** TLS of a config: its settings, and the contents of its files. */
export interface TlsConfig {
  readonly settings: TlsSettings;
  /** Names of the files with the beginning of their digest, for comparing two configs. */
  readonly shown: Readonly<Record<string, string>>;
}

/** Reading of `tls:`; without settings if there are errors. */
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

/** Reads the files of `tls:`, relative to the folder of the config. */
export function readTls(tls: TlsFiles, { baseDir, at }: Place): TlsReading {
  const absolute = (file: string) => path.resolve(baseDir, file);
  const { settings, problems } = readTlsFiles(tls, absolute);
  const errors = problems.map(({ part, message }) => ({ path: part ? [...at, part] : [...at], message }));
  const files = tlsParts.flatMap((part) => tls[part] ?? []).map(absolute);
  return { tls: settings && { settings, shown: shownFiles(tls, settings) }, errors, files };
}

function shownFiles(files: TlsFiles, settings: TlsSettings): TlsConfig['shown'] {
  const shown: Record<string, string> = {};
  for (const part of tlsParts) {
    const text = settings[part];
    if (text !== undefined) shown[part] = `${files[part]} (sha256 ${digestOf(text)})`;
  }
  return settings.servername === undefined ? shown : { ...shown, servername: settings.servername };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

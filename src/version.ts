import { readFileSync } from 'node:fs';

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

export const name = 'gw2api';
/** The version of this package. */
export const version = String((manifest as { version: unknown }).version); // package.json always has one

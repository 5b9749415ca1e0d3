import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

// All of undici is 111 files (fetch, WebSocket, caches): 110 ms of CPU and 10 MB, of which calls take a third.

export const Client = require('undici/lib/dispatcher/client.js') as typeof Undici.Client;
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof Undici.Pool;
export const connectorOf = require('undici/lib/core/connect.js') as typeof Undici.buildConnector;
export const errors = require('undici/lib/core/errors.js') as typeof Undici.errors;

/** All of undici, for what only few need. */
export function wholeUndici(): typeof Undici {
  return require('undici') as typeof Undici; // that is what it is
}

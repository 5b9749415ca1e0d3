import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

// Only the files that calls need: all of undici (fetch, WebSocket, caches) is slow to load and takes memory.

export const Client = require('undici/lib/dispatcher/client.js') as typeof Undici.Client;
export const Pool = require('undici/lib/dispatcher/pool.js') as typeof Undici.Pool;
export const connectorOf = require('undici/lib/core/connect.js') as typeof Undici.buildConnector;
export const errors = require('undici/lib/core/errors.js') as typeof Undici.errors;

/** All of undici, for the few parts that need it. */
export function wholeUndici(): typeof Undici {
  return require('undici') as typeof Undici; // that is what it is
}

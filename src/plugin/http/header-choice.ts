import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../contract/error.js';

/**
 * Value of a request header with a fixed set of choices, in lower case; undefined if absent or empty. Throws
 * `invalid_request` naming the header on any other value.
 */
export function headerChoice<const Choice extends string>(
  headers: IncomingHttpHeaders,
  name: Lowercase<string>,
  choices: readonly Choice[],
): Choice | undefined {
  const value = headers[name];
  if (value === undefined) return undefined;
  const sent = String(value).trim();
  if (sent === '') return undefined;
  const choice = choices.find((candidate) => candidate === sent.toLowerCase());
  if (choice !== undefined) return choice;
  const allowed = choices.map((candidate) => `"${candidate}"`).join(' or ');
  throw new GatewayError('invalid_request', `${name}: must be ${allowed}, not ${JSON.stringify(sent)}.`);
}

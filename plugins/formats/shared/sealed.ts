import { isTooDeep } from '@gw2api/gateway/plugin/format';
import { isRecord } from './body.js';

/** Prefix of the gateway's sealed content, as opposed to other vendors' encrypted content. */
const prefix = 'gw1.';

/** A JSON object as opaque text, for callers who send it back as it is: `encrypted_content` of Responses. */
export function seal(value: object): string {
  return prefix + Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Object sealed by `seal`; undefined for any other text, which only its own vendor can read. */
export function unseal(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const json = Buffer.from(text.slice(prefix.length), 'base64url').toString();
  const value = parseJson(json);
  return isRecord(value) && !isTooDeep(value, json) ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // truncated or altered in transit: treated as foreign
  }
}

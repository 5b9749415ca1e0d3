import type { Extras } from '@gw2api/gateway/plugin';
import { isRecord } from '../body.js';

/**
 * Fields of a body that its format does not read, for the upstream kinds that know them; no-op values are left out.
 */
export function unreadFields(body: object, read: ReadonlySet<string>): Extras {
  const unread = Object.keys(body).filter((name) => !read.has(name));
  const given = body as Readonly<Record<string, unknown>>; // any object may be read by name
  const asked = unread.filter((name) => !asksForNothing(name, given[name]));
  // Entries, since JSON may hold `__proto__`, and assigning that would set the prototype.
  return Object.fromEntries(asked.map((name) => [name, given[name]]));
}

/** No-op values, which SDKs and frameworks send with many requests. */
const defaults: Readonly<Record<string, readonly unknown[]>> = {
  background: [false],
  best_of: [1],
  frequency_penalty: [0],
  logprobs: [false],
  presence_penalty: [0],
  service_tier: ['auto', 'default'],
  store: [false],
  top_logprobs: [0],
  truncation: ['disabled'],
};

/** True for a no-op value. */
export function asksForNothing(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0 || (name === 'modalities' && isTextAlone(value));
  if (isRecord(value)) return Object.keys(value).length === 0;
  return Object.hasOwn(defaults, name) && (defaults[name]?.includes(value) ?? false);
}

function isTextAlone([first, ...others]: readonly unknown[]): boolean {
  return first === 'text' && others.length === 0;
}

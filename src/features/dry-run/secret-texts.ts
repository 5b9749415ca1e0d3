import type { OutgoingCall } from './outcome.js';
import { credentialNames } from '../../kit/credential-names.js';
import { formsOf } from '../../engine/masking/secret-forms.js';
import { cutMark } from './shown.js';
import type { Gateway } from '../../gateway/gateway.js';
import { configuredSecrets } from '../../engine/slots/slot-secrets.js';

const blank = '***';

/** Headers of an upstream request, without the values that the account or the slot has set. */
export function maskedHeaders(
  { headers, credential }: Pick<OutgoingCall, 'headers' | 'credential'>,
  slotHeaders: readonly string[],
): Readonly<Record<string, string>> {
  const own = new Set([...credential, ...slotHeaders.map((name) => name.toLowerCase())]);
  const isMasked = (name: string): boolean => own.has(name) || credentialNames.has(name);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isMasked(name) ? blank : value]),
  );
}

/** Copy of a JSON value without these texts at any place: plain, encoded, and cut off in a shortened text. */
export function withoutSecrets<Value>(value: Value, secrets: readonly string[]): Value {
  const long = secrets.filter((secret) => secret.length >= minLength);
  if (long.length === 0) return value;
  const known = [...new Set(long.flatMap(formsOf))].filter((form) => form.length >= minLength);
  const longestFirst = known.toSorted((a, b) => b.length - a.length);
  const cleaned = (text: string): string =>
    longestFirst.reduce((rest, secret) => withoutCut(rest.replaceAll(secret, blank), secret), text);
  return mapTexts(value, cleaned) as Value; // texts for texts
}

/** Text without the part of a secret at a cut that `shownText` has made. */
function withoutCut(text: string, secret: string): string {
  const cut = cutMark.exec(text);
  if (!cut) return text;
  const head = text.slice(0, cut.index);
  const tail = text.slice(cut.index + cut[0].length);
  const longest = (fits: (length: number) => boolean): number => {
    for (let length = Math.min(secret.length, text.length); length >= minLength; length -= 1)
      if (fits(length)) return length;
    return 0;
  };
  const before = longest((length) => head.endsWith(secret.slice(0, length)));
  const after = longest((length) => tail.startsWith(secret.slice(-length)));
  const start = before > 0 ? head.slice(0, -before) + blank : head;
  return `${start}${cut[0]}${after > 0 ? blank + tail.slice(after) : tail}`;
}

/** Min length of a secret; a shorter one would match unrelated words. */
const minLength = 6;

/** Copy of a JSON value with other texts. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, map)]));
}

/**
 * Texts of a gateway's config that reports must not contain: options that plugins mark as secret, headers, proxies.
 */
export function secretsOf({ runtime, services }: Pick<Gateway, 'runtime' | 'services'>): readonly string[] {
  const ofSlots = runtime.config.slots.flatMap((config) =>
    configuredSecrets(config, services.slots.get(config.id)?.plugins ?? {}),
  );
  return [...runtime.pipeline.secrets, ...ofSlots].filter((text) => text !== '');
}

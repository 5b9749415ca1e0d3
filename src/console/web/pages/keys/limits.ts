import type { Key } from '../../api/types.js';
import { compact, count } from '../../format/numbers.js';
import { usd } from '../../format/usd.js';

/** Limits of a key, one phrase each. */
export function limitsInWords(key: Key): readonly string[] {
  const phrases = [
    key.max_concurrent !== null && `${count(key.max_concurrent)} requests at a time`,
    key.requests_per_minute !== null && `${count(key.requests_per_minute)} requests a minute`,
    key.tokens_per_minute !== null && `${compact(key.tokens_per_minute)} tokens a minute`,
    key.tokens_per_day !== null && `${compact(key.tokens_per_day)} tokens a day`,
    key.tokens_per_month !== null && `${compact(key.tokens_per_month)} tokens a month`,
    key.usd_per_day !== null && `${usd(key.usd_per_day)} a day`,
    key.usd_per_month !== null && `${usd(key.usd_per_month)} a month`,
    key.models !== null && `only ${key.models.join(', ')}`,
    key.slots !== null && `only by ${key.slots.join(', ')}`,
  ];
  return phrases.filter((phrase) => phrase !== false);
}

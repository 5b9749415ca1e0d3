import { compact, counted } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import type { Key } from './api.js';

/** Limits of a key, one phrase each. */
export function limitsInWords(key: Key): readonly string[] {
  const phrases = [
    key.max_concurrent !== null && `${counted(key.max_concurrent, 'request')} at a time`,
    key.requests_per_minute !== null && `${counted(key.requests_per_minute, 'request')} a minute`,
    key.tokens_per_minute !== null && `${counted(key.tokens_per_minute, 'token', compact)} a minute`,
    key.tokens_per_day !== null && `${counted(key.tokens_per_day, 'token', compact)} a day`,
    key.tokens_per_month !== null && `${counted(key.tokens_per_month, 'token', compact)} a month`,
    key.usd_per_day !== null && `${usd(key.usd_per_day)} a day`,
    key.usd_per_month !== null && `${usd(key.usd_per_month)} a month`,
    key.models !== null && `only ${key.models.join(', ')}`,
    key.slots !== null && `only by ${key.slots.join(', ')}`,
  ];
  return phrases.filter((phrase) => phrase !== false);
}

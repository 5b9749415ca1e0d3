import { between, type Random } from '../random.js';

/** A made-up string that fits the `format`, `pattern` and lengths of a JSON Schema. */
export function stringFor(schema: Readonly<Record<string, unknown>>, random: Random): string {
  const formatted = formats[String(schema['format'])];
  if (formatted) return formatted;
  const least = Math.min(numberOr(schema['minLength'], 0), 100_000);
  const most = numberOr(schema['maxLength'], Infinity);
  const word = Array.from(words[between(random, 0, words.length - 1)] ?? '');
  const padding = Array.from(' made up'.repeat(Math.ceil(Math.max(0, least - word.length) / 8)));
  const plain = [...word, ...padding].slice(0, Math.min(most, Math.max(least, word.length))).join('');
  const pattern = schema['pattern'];
  if (typeof pattern !== 'string' || !isQuick(pattern)) return plain;
  const expression = new RegExp(pattern, 'u');
  const tried = plain.length <= maxSampleLength ? [plain, ...samples] : samples;
  return tried.find((sample) => expression.test(sample)) ?? plain;
}

/** False for a caller's pattern that could backtrack for long, which is ignored. */
function isQuick(pattern: string): boolean {
  const choices = pattern.match(/[*+{|?]/g) ?? [];
  return choices.length <= 6 && !/\)[*+{]|\\[1-9k]/.test(pattern);
}

const maxSampleLength = 32;

const words = ['simulated', 'made up', 'example', 'sample "quoted"', 'naïve – 世界 🌍'];

/** Candidates for a `pattern`, tried in turn; a pattern that none of them fits is ignored. */
const samples = [
  'a A abc ABC Abc a-b a_b AB ab a1 A1 AB12 ABC-123 abc-123 abc.txt',
  '0 1 12 123 1234 12345 123456 1.0 1.0.0 v1.0.0 +15550100 #aabbcc /a/b',
  '2026-01-01 12:00 12:00:00 a@example.com https://example.com/a deadbeef',
].flatMap((line) => line.split(' '));

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'somebody@example.com',
  hostname: 'example.com',
  uri: 'https://example.com/simulated',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

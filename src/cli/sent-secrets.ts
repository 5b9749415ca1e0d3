import type { Environment } from '../config/environment.js';
import { refusedConfigCode, UsageError } from '../gateway/start-failure.js';

/** Variables whose values callers and operators send. */
const names = ['GW2API_API_KEY', 'GW_PANEL_PASSWORD'] as const;

/** Trims line ends around these secrets, which files and `echo` add. */
export function trimSecrets(env: Record<string, string | undefined>): void {
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) env[name] = value.replace(/^[\r\n]+/, '').replace(/[\r\n]{1,99}$/, '');
  }
}

/** Messages about secrets that cannot be sent, without showing them. */
export function unsendableSecrets(env: Environment): readonly string[] {
  return names.flatMap((name) => {
    const value = env[name] ?? '';
    const isCut = name === 'GW2API_API_KEY' && value.trim() !== value;
    const fault = isCut ? 'begins or ends with white space, which no header can hold' : faultOf(value);
    return fault === undefined ? [] : [`${name} ${fault}: no client could send it; set another one.`];
  });
}

/** Throws a UsageError with all of them. */
export function refuseUnsendable(env: Environment, exitCode = refusedConfigCode): void {
  const faults = unsendableSecrets(env);
  if (faults.length > 0) throw new UsageError(faults.join('\n'), exitCode);
}

function faultOf(value: string): string | undefined {
  const [other] = /[^\t\x20-\x7e\x80-\xff]/u.exec(value) ?? [];
  if (other === undefined) return undefined;
  const code = other.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return `has a character that no header can hold (U+${code})`;
}

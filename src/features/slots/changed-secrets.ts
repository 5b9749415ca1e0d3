import { isRecord } from '../../kit/schema/record.js';

/** A slot's settings as stored, and as shown with secrets redacted. */
export interface SlotSides {
  readonly raw: unknown;
  readonly shown: unknown;
}

/** Shown settings in which each changed secret is only marked as changed. */
export function withChangedSecrets(before: SlotSides, after: SlotSides): unknown {
  const { shown, raw } = after;
  if (isRecord(shown))
    return Object.fromEntries(
      Object.entries(shown).map(([key, inner]) => [
        key,
        withChangedSecrets(
          { raw: own(before.raw, key), shown: own(before.shown, key) },
          { raw: own(raw, key), shown: inner },
        ),
      ]),
    );
  const isHidden = typeof shown === 'string' && shown === before.shown && !isSame(raw, before.raw);
  return isHidden ? `${shown} (changed)` : shown;
}

function own(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

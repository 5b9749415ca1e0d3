import type { SettingChange } from '../../../config/diff/config-diff.js';

/** Fields that differ between two values, each by its path; one-sided where there was nothing before or after. */
export function diffOf(before: unknown, after: unknown, path = ''): readonly SettingChange[] {
  if (isObject(before) && isObject(after)) return diffOfFields(before, after, path);
  if (path === '' && (isObject(before) || isObject(after)))
    return diffOfFields(isObject(before) ? before : {}, isObject(after) ? after : {}, path);
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isNothing(before)) return [{ path, change: 'added', after }];
  if (isNothing(after)) return [{ path, change: 'removed', before }];
  return [{ path, change: 'changed', before, after }];
}

type JsonObject = Readonly<Record<string, unknown>>;

function diffOfFields(before: JsonObject, after: JsonObject, path: string): readonly SettingChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => diffOf(before[key], after[key], path === '' ? key : `${path}.${key}`));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

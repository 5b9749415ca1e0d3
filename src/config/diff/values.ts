import { isDeepStrictEqual } from 'node:util';
import { blank, redactMarked, redactAddresses } from '../../kit/schema/redact.js';
import { isRecord } from '../../kit/schema/record.js';
import type { SettingChange } from './config-diff.js';
import { units } from '../../kit/schema/units.js';

/** A value and a copy of it for display, without secrets and values of the environment. */
export interface Value {
  readonly raw: unknown;
  readonly shown: unknown;
}

/**
 * Value of options. `written`: as in the file, before variables are substituted; `schema` marks the secrets, and
 * undescribed options count as secrets.
 */
export function optionsValue(raw: object, written: unknown, schema: object): Value {
  return { raw: inUnits(raw, schema), shown: redactAddresses(redactMarked(asWritten(raw, written), schema)) };
}

/** Value that is not secret, without the user and the password of an address. */
export function plainValue(raw: unknown, written: unknown): Value {
  return { raw, shown: redactAddresses(asWritten(raw, written)) };
}

/** An object of values as one value. */
export function objectValue(fields: Readonly<Record<string, Value>>): Value {
  const entries = Object.entries(fields);
  return {
    raw: Object.fromEntries(entries.map(([key, { raw }]) => [key, raw])),
    shown: Object.fromEntries(entries.map(([key, { shown }]) => [key, shown])),
  };
}

export const noValue: Value = { raw: undefined, shown: undefined };

/** Compares two values, objects key by key and lists as a whole. */
export function compareValues(before: Value, after: Value, path = ''): readonly SettingChange[] {
  if (isOpen(before) && isOpen(after) && (hasKeys(before) || hasKeys(after))) {
    const keys = new Set([...keysOf(after), ...keysOf(before)]);
    return [...keys].flatMap((key) =>
      compareValues(valueAt(before, key), valueAt(after, key), path === '' ? key : `${path}.${key}`),
    );
  }
  return isDeepStrictEqual(before.raw, after.raw) ? [] : [leafChange(before, after, path)];
}

/** True for an object whose keys may be shown, and for no value at all. */
function isOpen({ raw, shown }: Value): boolean {
  return raw === undefined || (isRecord(raw) && isRecord(shown));
}

function hasKeys(value: Value): boolean {
  return keysOf(value).length > 0;
}

function keysOf({ raw }: Value): readonly string[] {
  return Object.keys(Object(raw) as object);
}

function valueAt({ raw, shown }: Value, key: string): Value {
  return { raw: ownProperty(raw, key), shown: ownProperty(shown, key) };
}

function ownProperty(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function leafChange(before: Value, after: Value, path: string): SettingChange {
  const change = before.raw === undefined ? 'added' : after.raw === undefined ? 'removed' : 'changed';
  const isHidden = isDeepStrictEqual(before.shown, after.shown);
  if (isHidden || hasBlank(before.shown) || hasBlank(after.shown)) return { path, change, secret: true };
  return {
    path,
    change,
    ...(before.raw !== undefined && { before: before.shown }),
    ...(after.raw !== undefined && { after: after.shown }),
  };
}

function hasBlank(shown: unknown): boolean {
  if (typeof shown === 'object' && shown !== null) return Object.values(shown).some(hasBlank);
  return shown === blank;
}

/** Copy of a value with the file's texts in place of substituted variables. */
function asWritten(value: unknown, written: unknown): unknown {
  if (typeof written === 'string') return written.includes('${') ? written : value;
  if (Array.isArray(value))
    return Array.isArray(written) ? value.map((item, at) => asWritten(item, written[at])) : value;
  if (!isRecord(value) || !isRecord(written)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, asWritten(inner, ownProperty(written, key))]),
  );
}

/**
 * Copy of options with durations, sizes, times and percentages as numbers, as far as their schema names the unit, so
 * that different notations compare equal. Follows properties and items.
 */
function inUnits(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value;
  const { unit, properties, items } = schema;
  if (isUnit(unit)) return units[unit].parse(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => inUnits(item, items));
  if (!isRecord(value) || !isRecord(properties)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      Object.hasOwn(properties, key) ? inUnits(inner, properties[key]) : inner,
    ]),
  );
}

function isUnit(name: unknown): name is keyof typeof units {
  return typeof name === 'string' && Object.hasOwn(units, name);
}

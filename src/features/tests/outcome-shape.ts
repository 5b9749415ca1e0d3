import type { DryOutcome, OutgoingCall } from '../dry-run/outcome.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { fields } from '../../state/ledger/columns.js';
import type { SlotStatus, LedgerTokens } from '../../plugin/core.js';
import type { ValuePath } from './value-path.js';

/** Known keys of a value: none for a plain value, any in JSON of a caller or an upstream. */
export type Shape =
  | 'plain'
  | 'json'
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly items: Shape }
  | { readonly entries: Shape; readonly isLowerCase?: boolean };

/** Shape with all keys of a type, checked for completeness. */
function keysOf<Value>(fields: Readonly<Record<keyof Value, Shape>>): Shape {
  return { fields };
}

const tokens = keysOf<LedgerTokens>({
  input: 'plain',
  cacheRead: 'plain',
  cacheWrite5m: 'plain',
  cacheWrite1h: 'plain',
  output: 'plain',
});

const slotStatus = keysOf<SlotStatus>({
  id: 'plain',
  upstream: 'plain',
  accountKind: 'plain',
  state: 'plain',
  reason: 'plain',
  untilMs: 'plain',
  checkAtMs: 'plain',
  cause: 'json',
  models: 'json',
  inFlight: 'plain',
  queued: 'plain',
  maxConcurrent: 'plain',
  weight: 'plain',
  serves: 'json',
  upstreamModels: 'json',
  bindings: 'plain',
  windows: 'json',
  lastError: 'plain',
  lastErrorAtMs: 'plain',
});

/** Fields of a row by their schemas; JSON for those without members of their own. */
const ledgerRow: Shape = {
  fields: Object.fromEntries(fields.map(([name, { schema }]) => [name, shapeOf(schema)])),
};

function shapeOf(schema: { readonly type?: unknown; readonly properties?: object }): Shape {
  if (schema.properties === undefined)
    return schema.type === undefined || schema.type === 'object' ? 'json' : 'plain';
  return { fields: Object.fromEntries(Object.keys(schema.properties).map((name) => [name, 'plain'])) };
}

/** Headers by name, which an outcome has in lower case. */
const headers: Shape = { entries: 'plain', isLowerCase: true };

const outgoingCall = keysOf<OutgoingCall>({
  slot: 'plain',
  label: 'plain',
  method: 'plain',
  path: 'plain',
  headers,
  body: 'json',
  credential: { items: 'plain' },
});

/** Everything that a test can assert of a request. */
export const outcomeFields: Readonly<Record<keyof DryOutcome, Shape>> = {
  status: 'plain',
  headers,
  answer: 'json',
  text: 'plain',
  events: { items: { fields: { event: 'plain', data: 'json' } } },
  error: { fields: { code: 'plain', message: 'plain' } },
  complete: 'plain',
  pipeline: 'plain',
  slot: 'plain',
  model: 'plain',
  answeredBy: 'plain',
  attempts: 'plain',
  calls: { items: { fields: { slot: 'plain', model: 'plain', code: 'plain' } } },
  stages: { items: 'plain' },
  skipped: { items: 'plain' },
  upstream: 'json',
  outgoing: { items: outgoingCall },
  remotes: { entries: { items: 'json' } },
  dropped: { items: 'plain' },
  usage: { fields: { shown: tokens, billed: tokens } },
  cost: { fields: { shown: 'plain', billed: 'plain' } },
  ledger: { items: ledgerRow },
  slots: { entries: slotStatus },
  firstEventMs: 'plain',
  durationMs: 'plain',
  log: { items: { fields: { level: 'plain', message: 'plain' } } },
  refusedConnections: { items: 'plain' },
};

export const outcomeShape: Shape = { fields: outcomeFields };

/** Shape at a path, or an error message. */
export function shapeAt(shape: Shape, path: ValuePath): Shape | { readonly fault: string } {
  let at = shape;
  for (const key of path) {
    const next = within(at, key);
    if (typeof next === 'object' && 'fault' in next) return next;
    at = next;
  }
  return at;
}

function within(shape: Shape, key: string | number): Shape | { readonly fault: string } {
  if (shape === 'json') return shape;
  if (shape === 'plain') return { fault: `names "${key}" within a plain value` };
  const isIndex = /^-?\d+$/.test(String(key));
  if ('items' in shape)
    return isIndex ? shape.items : { fault: `names "${key}" within a list; write [n], or a matcher` };
  if ('entries' in shape) return entryShape(shape, String(key));
  const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
  if (field) return field;
  const names = Object.keys(shape.fields);
  const meant = didYouMean(String(key), names);
  return {
    fault: `is not a known key: "${key}"; ${meant ? `did you mean "${meant}"?` : `known here: ${names.join(', ')}`}`,
  };
}

function entryShape(
  { entries, isLowerCase }: Extract<Shape, { entries: Shape }>,
  key: string,
): Shape | { readonly fault: string } {
  const lower = key.toLowerCase();
  return isLowerCase === true && key !== lower
    ? { fault: `names the header "${key}"; write "${lower}", as names are lower case here` }
    : entries;
}

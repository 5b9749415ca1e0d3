import { addressErrors } from '../addresses.js';
import { durationMs } from '../../plugin/index.js';
import { isRequestHeader } from '../../plugin/core.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import type { Checked } from '../checked.js';
import type { SlotConfig, SlotPluginsConfig } from '../config.js';
import type { Path, Source } from '../document.js';
import { slotPriceErrors } from '../catalog.js';
import { settled } from '../sections/section.js';
import { slotSettings, type RawSlot } from './slot-schema.js';
import { integrityText } from '../stage-schema.js';
import { filterErrors, servedModels, servedModelErrors } from './served-models.js';

/** Converts a checked slot; `raw` has passed its schema and `slotErrors`. */
export function toSlot(raw: RawSlot, index: number, source: Source): SlotConfig {
  return {
    ...toSlotPlugins(raw, index, source, () => true),
    id: raw.id,
    ...servedModels(raw),
    ...settled(slotSettings, raw),
  };
}

/** Plugins of a slot, as far as they are valid; undefined without a valid upstream. */
export function validSlotPlugins(
  raw: RawSlot | null | undefined,
  index: number,
  source: Source,
  isValid: Checked['isValid'],
): SlotPluginsConfig | undefined {
  const isOwnValid = (path: Path) => isValid(['slots', index, ...path]);
  if (!raw || !isOwnValid(['upstream']) || typeof raw.upstream !== 'string') return undefined;
  const { account, baseUrl, upstream, integrity } = raw;
  const hasKind = typeof account?.kind === 'string' && isOwnValid(['account', 'kind']);
  const valid = {
    upstream,
    with: typeof raw.with === 'object' ? raw.with : {},
    ...(hasKind && { account }),
    ...(integrity !== undefined && { integrity: integrityText(integrity) }),
    ...(typeof baseUrl === 'string' && { baseUrl }),
  };
  return toSlotPlugins(valid, index, source, isOwnValid);
}

function toSlotPlugins(
  {
    upstream,
    integrity,
    with: options,
    account,
    baseUrl,
  }: Pick<RawSlot, 'upstream' | 'integrity' | 'with' | 'account' | 'baseUrl'>,
  index: number,
  source: Source,
  isValid: SlotPluginsConfig['isValid'],
): SlotPluginsConfig {
  return {
    upstream,
    ...(integrity !== undefined && { integrity }),
    with: options,
    ...(account !== undefined && { account }),
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/(?<!\/)\/+$/, '') }),
    path: `slots[${index}]`,
    at: source.positionOf(['slots', index]),
    positionOf: (path) => source.positionOf(['slots', index, ...path]),
    isValid,
  };
}

/** Rules for one slot that a schema cannot express, checked on its valid fields. */
export function slotErrors(
  slot: RawSlot,
  index: number,
  isValid: Checked['isValid'],
): readonly SchemaError[] {
  return rules
    .filter(({ of }) => of.every((field) => isValid(['slots', index, field])))
    .flatMap(({ errors }) => errors(slot))
    .map(({ path, message }) => ({ path: ['slots', index, ...path], message }));
}

/** Errors for credentials such as `$NAME` in the config as `written`, a variable without its braces. */
export function variableErrors(written: unknown): readonly SchemaError[] {
  const { slots } = Object(written) as { slots?: unknown }; // any object has properties, perhaps undefined
  return [slots].flat().flatMap((slot: unknown, index) => {
    const { account } = Object(slot) as { account?: unknown }; // as above
    return Object.entries(Object(account) as object)
      .filter(([, text]: [string, unknown]) => typeof text === 'string' && /^\$[A-Za-z_]\w*$/.test(text))
      .map(([key, text]: [string, string]) => ({
        path: ['slots', index, 'account', key],
        message: `looks like a variable; write \${${text.slice(1)}}`,
      }));
  });
}

/** Errors for ids used twice: logs, bindings and `/admin/slots` could not tell the slots apart. */
export function duplicateSlots(ids: readonly unknown[], source: Source): readonly SchemaError[] {
  const firsts = new Map<unknown, number>();
  return ids.flatMap((id, index) => {
    const first = firsts.get(id);
    if (first === undefined) firsts.set(id, index);
    if (first === undefined || typeof id !== 'string') return [];
    const { line } = source.positionOf(['slots', first, 'id']);
    const message = `"${id}" is already the id of slots[${first}] at line ${line}; give each slot its own`;
    return [{ path: ['slots', index, 'id'], message }];
  });
}

interface Rule {
  /** The fields that the rule reads; it is skipped unless all are valid. */
  readonly of: readonly (keyof RawSlot)[];
  readonly errors: (slot: RawSlot) => readonly SchemaError[];
}

const rules: readonly Rule[] = [
  { of: ['id'], errors: idErrors },
  {
    of: ['baseUrl'],
    errors: ({ baseUrl }) => (baseUrl === undefined ? [] : urlErrors(['baseUrl'], baseUrl)),
  },
  { of: ['proxy'], errors: ({ proxy }) => (proxy === undefined ? [] : proxyErrors(proxy)) },
  { of: ['headers'], errors: headerErrors },
  { of: ['models'], errors: ({ models }) => servedModelErrors(models) },
  { of: ['models', 'filter'], errors: filterErrors },
  { of: ['price'], errors: slotPriceErrors },
  { of: ['cooldown'], errors: cooldownErrors },
];

/** Rules for cooldowns: each has a length, and none starts above its max. */
function cooldownErrors({ cooldown }: RawSlot): readonly SchemaError[] {
  const ofBackoffs = backoffs.flatMap((cause) => {
    const { first, max } = cooldown[cause];
    const path = ['cooldown', cause, 'first'];
    const message = `is longer than max (${max}); set cooldown.${cause}.max to at least ${first}`;
    return durationMs(first) > durationMs(max) ? [{ path, message }] : lengthErrors(path, first);
  });
  return [...ofBackoffs, ...lengthErrors(['cooldown', 'max'], cooldown.max)];
}

function lengthErrors(path: Path, text: string): readonly SchemaError[] {
  return durationMs(text) > 0 ? [] : [{ path, message: 'must be longer than 0s' }];
}

const backoffs = ['rateLimited', 'overloaded', 'unreachable'] as const;

function idErrors({ id }: RawSlot): readonly SchemaError[] {
  const message = 'must be ASCII letters, digits and punctuation: answers name it in a header';
  return /^[\x21-\x7e]+$/.test(id) ? [] : [{ path: ['id'], message }];
}

function headerErrors({ headers }: RawSlot): readonly SchemaError[] {
  const message =
    'is not a header that can be added: it needs a name of letters, digits and dashes that does not concern the connection, and a single-line value';
  return Object.entries(headers)
    .filter(([name, text]) => !isRequestHeader(name, text.trim()))
    .map(([name]) => ({ path: ['headers', name], message }));
}

/** Rules for a URL; messages do not repeat it, because it may hold a password. */
function urlErrors(path: Path, text: string): readonly SchemaError[] {
  const protocol = URL.canParse(text) ? new URL(text).protocol : 'none';
  return ['http:', 'https:'].includes(protocol)
    ? []
    : [{ path, message: 'must be a URL that begins with http:// or https://' }];
}

/**
 * Rules for a proxy URL; its user and password must be decodable, because they are decoded before they are
 * sent.
 */
function proxyErrors(proxy: string): readonly SchemaError[] {
  const path = ['proxy'];
  const errors = [...addressErrors(path, proxy), ...urlErrors(path, proxy)];
  if (errors.length > 0 || isDecodable(new URL(proxy))) return errors;
  return [
    { path, message: 'has a % in its user or password that encodes nothing; write %25 for a literal %' },
  ];
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false; // it throws for nothing else
  }
}

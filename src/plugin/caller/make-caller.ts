import type { Caller, CallerTeam } from '../contract/caller.js';
import { GatewayError } from '../contract/error.js';
import { keyLimits, limitNames, type KeyLimits } from '../contract/protocol-key.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { isRecord } from '../../kit/schema/record.js';
import { callerClaims } from './caller-claims.js';

/** Facts about a caller, as an authentication has read them; their values are checked. */
export interface CallerFields {
  /** 1 to 255 characters; by it the ledger, limits and `when: { caller }` tell callers apart. */
  readonly name: unknown;
  /** Catalog ids or globs of models; absent: all. */
  readonly models?: unknown;
  /** Slot ids or globs; absent: all. */
  readonly slots?: unknown;
  /** Limits of the caller, by their names; absent: none. */
  readonly limits?: Readonly<Partial<Record<keyof KeyLimits, unknown>>> | undefined;
  /** Team whose limits it shares; absent: none. */
  readonly team?: { readonly id: unknown; readonly name: unknown; readonly limits?: CallerFields['limits'] };
  /** JSON object of at most 8 KB; absent: none. */
  readonly claims?: unknown;
}

/** Name of a field for the error message about it: `claim "sub"` for `name`. */
type FieldName = (field: string) => string;

/**
 * Makes a checked caller without a key of the gateway, with the id `SCHEME:NAME`. Throws `invalid_api_key` (401) with
 * the field of a value that is not valid, by `nameOf`; a TypeError for a bad scheme or an unknown field.
 */
export function makeCaller(
  scheme: string,
  fields: CallerFields,
  nameOf: FieldName = (field) => field,
): Caller {
  if (!/^[a-z][a-z\d-]{0,31}$/.test(scheme))
    throw new TypeError('makeCaller: the scheme must be 1 to 32 lower-case letters, digits and "-".');
  const unknown = Object.keys(fields).find((field) => !known.has(field));
  if (unknown !== undefined)
    throw new TypeError(`makeCaller: unknown field "${unknown}"${hintFor(unknown)}.`);
  const check = new FieldCheck(nameOf);
  const name = check.text('name', fields.name);
  const models = check.list('models', fields.models);
  const slots = check.list('slots', fields.slots);
  const limits = check.limits('limits', fields.limits);
  const team = check.team(fields.team);
  const claims = check.claims(fields.claims);
  return {
    kind: 'key',
    keyId: `${scheme}:${name}`,
    name,
    ...(models && { models }),
    ...(slots && { slots }),
    ...(limits && { limits }),
    ...(team && { team }),
    ...(claims && { claims }),
  };
}

const known: ReadonlySet<string> = new Set(['name', 'models', 'slots', 'limits', 'team', 'claims']);

function hintFor(unknown: string): string {
  const meant = didYouMean(unknown, [...known]);
  return meant ? `; did you mean "${meant}"?` : `; known fields: ${[...known].join(', ')}`;
}

/** Checks of the fields of one caller. */
class FieldCheck {
  readonly #nameOf: FieldName;

  constructor(nameOf: FieldName) {
    this.#nameOf = nameOf;
  }

  text(field: string, value: unknown): string {
    if (isName(value)) return value;
    return this.#refuse(
      field,
      `must be a text of 1 to ${maxNameLength} characters, none of them a control character`,
    );
  }

  list(field: string, value: unknown): readonly string[] | undefined {
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.length <= maxListed && value.every(isName);
    if (isList) return [...(value as readonly string[])]; // all are names
    return this.#refuse(
      field,
      `must be a list of at most ${maxListed} texts of 1 to ${maxNameLength} characters`,
    );
  }

  limits(field: string, value: CallerFields['limits']): KeyLimits | undefined {
    if (value === undefined) return undefined;
    if (!isRecord(value)) return this.#refuse(field, 'must be an object of limits');
    const found = Object.entries(value).filter(([, amount]) => amount !== undefined);
    for (const [name, amount] of found) this.#limit(`${field}.${name}`, name, amount);
    return keyLimits(Object.fromEntries(found));
  }

  team(value: CallerFields['team']): CallerTeam | undefined {
    if (value === undefined) return undefined;
    const limits = this.limits('team.limits', value.limits);
    const named = { id: this.text('team.id', value.id), name: this.text('team.name', value.name) };
    return limits ? { ...named, limits } : named;
  }

  claims(value: unknown): Caller['claims'] {
    if (value === undefined) return undefined;
    try {
      return callerClaims(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.#refuse('claims', 'must be a JSON object of at most 8 KB');
    }
  }

  #limit(field: string, name: string, amount: unknown): void {
    if (!limitNames.some((limit) => limit === name))
      this.#refuse(field, `is not a limit; known limits: ${limitNames.join(', ')}`);
    const isUsd = name.startsWith('usd');
    const isAmount = typeof amount === 'number' && amount >= 0;
    if (isAmount && (isUsd ? amount <= maxUsd : Number.isSafeInteger(amount))) return;
    this.#refuse(field, `must be ${isUsd ? `an amount from 0 to ${maxUsd}` : 'a whole number, 0 or more'}`);
  }

  #refuse(field: string, rule: string): never {
    throw new GatewayError('invalid_api_key', `${this.#nameOf(field)} ${rule}.`, { param: field });
  }
}

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxNameLength &&
    value.isWellFormed() &&
    !/\p{Cc}/u.test(value)
  );
}

/** Max length of a subject by OpenID Connect; a longer name cut short would be another caller's. */
const maxNameLength = 255;
const maxListed = 1000;

/** Max budget whose nano-USD fit a number. */
const maxUsd = 1_000_000;

import { Type, type TObject, type TSchema } from 'typebox';
import { asksForNothing } from './unread-fields.js';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Reports the members of a value at a path that its schema does not name, at any depth. */
export type MemberReport = (value: unknown, path: string, dropped: UnsupportedFields) => void;

/**
 * Report for values of a schema. A schema that names no properties, such as a map, says nothing of its members.
 * `passed`: members that are not read, and whose loss changes nothing.
 */
export function unreadMembers(schema: TSchema, passed = ''): MemberReport {
  let members: Members | undefined;
  const silent = new Set(passed.split(' '));
  return (value, path, dropped) => {
    members ??= membersOf(schema);
    if (!isRead(members, value, silent)) report(members, value, { path, dropped, silent });
  };
}

/** The same for the fields of a body, those left out that report their own members; unknown fields are extras. */
export function unreadInFields(
  { properties }: TObject,
  leftOut: readonly string[] = [],
): (body: object, dropped: UnsupportedFields) => void {
  const fields = Object.entries(properties).filter(([name]) => !leftOut.includes(name));
  const reports = fields.map(([name, schema]) => ({ name, report: unreadMembers(schema) }));
  return (body, dropped) => {
    const given = body as Readonly<Record<string, unknown>>; // any object may be read by name
    for (const { name, report } of reports) report(given[name], name, dropped);
  };
}

/**
 * The same for parts of a type each, of whose schema they have these fields. Passed over are parts of answers, which
 * clients send back.
 */
export function unreadInParts({ properties }: TObject, fields: readonly string[]): MemberReport {
  const own = Object.entries(properties).filter(([name]) => fields.includes(name));
  return unreadMembers(Type.Object({ type: Type.String(), ...Object.fromEntries(own) }), ofAnswers);
}

/** Members of answers that say nothing in a request. */
export const ofAnswers = 'annotations id index logprobs status';

/** Members that a schema names: those of objects, and what is in its lists. */
interface Members {
  readonly names: ReadonlyMap<string, Members>;
  readonly items: Members | undefined;
}

interface JsonSchema {
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
}

function membersOf(schema: TSchema): Members {
  const { anyOf = [], items, properties = {} } = schema as JsonSchema; // what TypeBox makes of types
  const parts = anyOf.map(membersOf);
  const own = Object.entries(properties).map(([name, inner]) => [name, membersOf(inner)] as const);
  return {
    names: new Map([...parts.flatMap(({ names }) => [...names]), ...own]),
    items: items ? membersOf(items) : parts.find((part) => part.items)?.items,
  };
}

/** True for a value of which all is read: the common case, found out without a path. */
function isRead(members: Members, value: unknown, silent: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const { names, items } = members;
  if (Array.isArray(value)) return !items || value.every((item) => isRead(items, item, silent));
  if (names.size === 0) return true;
  const fields = value as Readonly<Record<string, unknown>>; // any object may be read by name
  for (const name in fields) {
    const inner = names.get(name);
    if (inner ? !isRead(inner, fields[name], silent) : isLost(name, fields[name], silent)) return false;
  }
  return true;
}

/** True for a member without a name in the schema that asks for something. */
function isLost(name: string, value: unknown, silent: ReadonlySet<string>): boolean {
  return !silent.has(name) && !asksForNothing(name, value);
}

interface Place {
  readonly path: string;
  readonly dropped: UnsupportedFields;
  readonly silent: ReadonlySet<string>;
}

function report({ names, items }: Members, value: unknown, place: Place): void {
  if (typeof value !== 'object' || value === null) return;
  const { path } = place;
  if (Array.isArray(value)) {
    if (items) value.forEach((item, at) => report(items, item, { ...place, path: `${path}[${at}]` }));
  } else if (names.size > 0) reportFields(names, value as Readonly<Record<string, unknown>>, place); // read by name
}

/** Stops once there is room for no more: a caller may send a million fields. */
function reportFields(
  names: Members['names'],
  fields: Readonly<Record<string, unknown>>,
  place: Place,
): void {
  const { path, dropped, silent } = place;
  for (const name in fields) {
    if (dropped.isFull) return;
    const members = names.get(name);
    if (members) report(members, fields[name], { ...place, path: path === '' ? name : `${path}.${name}` });
    else if (isLost(name, fields[name], silent)) dropped.add(`${path}.${name}`);
  }
}

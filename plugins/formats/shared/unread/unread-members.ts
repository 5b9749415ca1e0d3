import { Type, type TObject, type TSchema } from 'typebox';
import { asksForNothing } from './unread-fields.js';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Reports the members of a value at a path that its schema does not name, at any depth. */
export type MemberReport = (value: unknown, path: string, dropped: UnsupportedFields) => void;

/**
 * Report for values of a schema; without named properties, as for a map, it allows any members. `passed`: members that
 * are not read, and whose loss changes nothing.
 */
export function unreadMembers(schema: TSchema, passed = ''): MemberReport {
  let members: Members | undefined;
  const silent = new Set(passed.split(' '));
  return (value, path, dropped) => {
    if (dropped.isFull) return;
    members ??= membersOf(schema);
    new Search(path, dropped, silent).run(members, value);
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

/** Members of answers without a meaning in a request. */
export const ofAnswers = 'annotations id index logprobs status';

/** Members that a schema names: those of objects, and of items of lists. */
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

/** Search of one value, in one pass: a caller may send a million fields, of which each further look at them takes long. */
class Search {
  readonly #path: string;
  readonly #dropped: UnsupportedFields;
  readonly #silent: ReadonlySet<string>;
  /** Names and indices that lead to the current part; the path is built only for an unread member. */
  readonly #keys: (string | number)[] = [];

  constructor(path: string, dropped: UnsupportedFields, silent: ReadonlySet<string>) {
    this.#path = path;
    this.#dropped = dropped;
    this.#silent = silent;
  }

  run({ names, items }: Members, value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (items) this.#items(items, value);
    } else if (names.size > 0) this.#fields(names, value as Readonly<Record<string, unknown>>); // read by name
  }

  #items(members: Members, list: readonly unknown[]): void {
    for (let at = 0; at < list.length && !this.#dropped.isFull; at += 1) this.#within(at, members, list[at]);
  }

  #fields(names: Members['names'], fields: Readonly<Record<string, unknown>>): void {
    for (const name in fields) {
      if (this.#dropped.isFull) return;
      const members = names.get(name);
      if (members) this.#within(name, members, fields[name]);
      else if (isLost(name, fields[name], this.#silent)) this.#dropped.add(this.#pathOf(name));
    }
  }

  #within(key: string | number, members: Members, value: unknown): void {
    if (typeof value !== 'object') return;
    this.#keys.push(key);
    this.run(members, value);
    this.#keys.pop();
  }

  #pathOf(name: string): string {
    const inner = this.#keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
    return `${this.#path}${inner.join('')}.${name}`;
  }
}

/** True for an unknown member with an effective value. */
function isLost(name: string, value: unknown, silent: ReadonlySet<string>): boolean {
  return !silent.has(name) && !asksForNothing(name, value);
}

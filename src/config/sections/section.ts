import type { Static, TObject, TOptional, TSchema } from 'typebox';
import { Closed, Described } from '../../kit/schema/type.js';
import { Duration, durationMs } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { durationText } from '../diff/durations.js';
import { optionsValue, type Value } from '../diff/values.js';
import type { Environment } from '../environment.js';
import type { TlsConfig } from '../tls-files.js';

/** Facts outside of a section that its settings depend on. */
export interface SettingContext {
  readonly env: Environment;
  /** Address under `store:`; undefined if it is wrong. */
  readonly store: string | undefined;
  /** TLS of `panel.oidc`, with the texts of its files. */
  readonly oidcTls?: TlsConfig | undefined;
}

/** One setting of a section: its schema, and its way into the checked config and back. */
export interface Setting<Schema extends TSchema = TSchema, Result = unknown, Name extends string = string> {
  /** Schema with the setting's description. */
  readonly schema: Schema;
  /** Name in the checked config, in which `*` stands for the key. */
  readonly name: Name;
  /** Applied by a reload, though its section waits for the next start. */
  readonly live: boolean;
  /** Checked value; undefined leaves the field out. */
  settle(this: void, raw: Plain<Schema>, context: SettingContext): Result;
  /** Value as in a file. */
  show(this: void, settled: Result | undefined): unknown;
}

/**
 * Settings by their keys; with more of `Setting` here, TypeScript would infer unknown for the results of inline ones.
 */
type Settings = Readonly<Record<string, Pick<Setting, 'schema' | 'live'>>>;

/** Fields of the checked config: `drainDelayMs: number` for a `drainDelay`. */
export type Settled<Fields extends Settings> = Readable<
  {
    readonly [
      Key in keyof Fields as undefined extends ResultOf<Fields[Key]> ? never : NameOf<Fields, Key>
    ]: ResultOf<Fields[Key]>;
  } & {
    readonly [
      Key in keyof Fields as undefined extends ResultOf<Fields[Key]> ? NameOf<Fields, Key> : never
    ]?: Exclude<ResultOf<Fields[Key]>, undefined>;
  }
>;

type Readable<Type> = { [Key in keyof Type]: Type[Key] };

type ResultOf<Field> = Field extends { settle(raw: never, context: SettingContext): infer Result }
  ? Result
  : never;

type NameOf<Fields extends Settings, Key extends keyof Fields> = Fields[Key] extends {
  readonly name: infer Name;
}
  ? Name extends `*${infer End}`
    ? `${Key & string}${End}`
    : Name & string
  : never;

/** The schemas of settings, by their keys. */
type SchemasOf<Fields extends Settings> = { [Key in keyof Fields]: Fields[Key]['schema'] };

/** Settings as a file has them, with their defaults. */
export type Raw<Fields extends Settings> = Static<TObject<SchemasOf<Fields>>>;

type Plain<Schema extends TSchema> = Schema extends TOptional ? Static<Schema> | undefined : Static<Schema>;

/** Makes a setting; `words` describe it in editors and in the reference config. */
export function setting<Schema extends TSchema, Result = Plain<Schema>, Name extends string = '*'>(
  schema: Schema,
  words: string,
  {
    name = '*' as Name, // the default of its type
    live = false,
    settle = (raw) => raw, // the default of its type
    show = (settled) => settled,
  }: Partial<Setting<Schema, Result, Name>> = {},
): Setting<Schema, Result, Name> {
  return { schema: Described(schema, words), name, live, settle, show };
}

/** Makes a setting for a duration, which the checked config has in milliseconds. */
export function duration(initial: string, words: string, { live = false } = {}) {
  const terms = { name: '*Ms', live, settle: durationMs, show: durationText } as const;
  return setting(Duration({ default: initial }), words, terms);
}

/** Makes a setting for a group of settings, all of which may be left out. */
export function group<Fields extends Settings>(fields: Fields, words: string) {
  return setting(Closed(schemasOf(fields), { default: {} }), words, {
    settle: (raw, context) => settled(fields, raw, context),
    show: (values) => values && shown(fields, values),
  });
}

/** Makes a setting with its own code for reading and display. */
export function schemaOnly<Schema extends TSchema>(schema: Schema, words: string) {
  const terms = { name: '' as never, settle: () => undefined, show: () => undefined }; // no field has this name
  return setting<Schema, undefined, never>(schema, words, terms);
}

/** A part of the config other than a list of entries. */
export interface Section<Schema extends TSchema = TSchema, Result = unknown> {
  readonly schema: Schema;
  /** Takes effect at the next start, except for the settings in `reloaded`. */
  readonly needsRestart: boolean;
  readonly reloaded: ReadonlySet<string>;
  /** Rules that the schema cannot express. */
  errors(this: void, raw: Static<Schema>, context: SettingContext): readonly SchemaError[];
  settle(this: void, raw: Static<Schema>, context: SettingContext): Result;
  /** Value for a comparison of two configs; `written`: as in the file. */
  compared(this: void, settled: Result, written: unknown): Value;
}

interface SectionTerms<Fields extends Settings> {
  readonly description?: string;
  readonly needsRestart?: boolean;
  errors?(this: void, raw: Raw<Fields>, context: SettingContext): readonly SchemaError[];
}

/** Makes a section of settings, which may be left out as a whole. */
export function section<Fields extends Settings>(
  fields: Fields,
  { description, needsRestart = false, errors = () => [] }: SectionTerms<Fields> = {},
) {
  const schema = Closed(schemasOf(fields), {
    default: {},
    ...(description !== undefined && { description }),
  });
  const reloaded = Object.entries(fields).flatMap(([key, { live }]) => (live ? [key] : []));
  return {
    schema,
    needsRestart,
    reloaded: new Set(reloaded),
    errors,
    settle: (raw: Raw<Fields>, context: SettingContext) => settled(fields, raw, context),
    compared: (value: Settled<Fields>, written: unknown) =>
      optionsValue(shown(fields, value), written, schema),
  } satisfies Section<TSchema, Settled<Fields>>;
}

/** The schemas of settings, by their keys. */
export function schemasOf<Fields extends Settings>(fields: Fields): SchemasOf<Fields> {
  const entries = Object.entries(fields).map(([key, { schema }]) => [key, schema] as const);
  return Object.fromEntries(entries) as SchemasOf<Fields>; // the same keys
}

/** The checked values of settings; `raw` conforms to their schemas. */
export function settled<Fields extends Settings>(
  fields: Fields,
  raw: Raw<Fields>,
  context: SettingContext = noContext,
): Settled<Fields> {
  const values = new Map<string, unknown>(Object.entries(raw));
  const entries = entriesOf(fields).map(
    ([key, { name, settle }]) => [name.replace('*', key), settle(values.get(key), context)] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Settled<Fields>; // by its fields
}

/** Context of settings without other dependencies. */
const noContext: SettingContext = { env: {}, store: undefined };

/** Checked values as a file has them. */
export function shown(fields: Settings, values: object): object {
  const checked = new Map<string, unknown>(Object.entries(values));
  const entries = entriesOf(fields).map(
    ([key, { name, show }]) => [key, show(checked.get(name.replace('*', key)))] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function entriesOf(fields: Settings): readonly (readonly [string, Setting])[] {
  return Object.entries(fields) as [string, Setting][]; // `setting` makes them all
}

import type { Static } from 'typebox';
import { Closed, Described } from '../kit/schema/type.js';
import { Percentage } from '../kit/schema/units.js';
import { Duration, Size, Type, type Operation } from '../plugin/index.js';

export const operations = [
  'generate',
  'count-tokens',
  'models',
  'usage',
  'route',
  'other',
] as const satisfies Operation[];

const Text = Type.String({ minLength: 1 });

/** A list; a single string counts as a list of one. */
export const Texts = Type.Unsafe<string | readonly string[]>({
  type: ['string', 'array'],
  minLength: 1,
  items: Text,
  minItems: 1,
});

const Operations = Type.Unsafe<Operation | readonly Operation[]>({
  type: ['string', 'array'],
  items: Type.Enum(operations),
  minItems: 1,
  if: { type: 'array' },
  else: Type.Enum(operations),
});

const conditions = {
  format: Described(Type.Optional(Texts), 'Names of formats.'),
  model: Described(Type.Optional(Texts), 'Catalog ids.'),
  operation: Described(Type.Optional(Operations), operations.join(' | ')),
  caller: Described(
    Type.Optional(Texts),
    `Ids or names of keys, master (the master key), anonymous; with a colon, ids of other callers,
      such as jwt:NAME.`,
  ),
  team: Described(Type.Optional(Texts), 'Ids or names of teams; a caller without a team is in none.'),
  claim: Described(
    Type.Optional(Type.Record(Type.String(), Texts, { minProperties: 1 })),
    'Claims that the caller must have, such as those of its token, with one of these values.',
  ),
  path: Described(Type.Optional(Texts), 'Paths of requests, without /v1: /messages, /chat/*.'),
  header: Described(
    Type.Optional(Type.Record(Type.String(), Texts, { minProperties: 1 })),
    'Headers that must be present, with one of these values.',
  ),
  stream: Described(Type.Optional(Type.Boolean()), 'true: requests for a streamed answer.'),
  sample: Described(
    Type.Optional(Percentage()),
    `Share of all sessions, always the same ones; of all requests if nothing names a session (its header,
      prompt_cache_key, metadata.user_id).`,
  ),
};

/** Schema of `when`. */
export const WhenSchema = Closed({
  ...conditions,
  not: Described(
    Type.Optional(Closed(conditions, { minProperties: 1 })),
    'Excludes the requests that match all of this; it has the same fields.',
  ),
});

const options = Type.Unsafe<Record<string, unknown>>({ type: 'object', default: {} });

const EntryName = Type.String({ pattern: String.raw`^[\w.:-]{1,64}$` });

const Locked = Described(
  Type.Optional(Type.Boolean()),
  'true: no named pipeline may remove it, replace it or change its settings. Default: false.',
);

/** Schema of the hash that the code of a plugin must have. */
export const Integrity = Type.String({ pattern: '^sha256-[A-Za-z0-9+/]{43}=$' });

/** The hash of an entry, whose problems are reported elsewhere: a wrong one fits no code, so that none is loaded. */
export function integrityText(given: unknown): string {
  return typeof given === 'string' ? given : '';
}

const EntryIntegrity = Described(
  Type.Optional(Integrity),
  `Hash of the files of its package, as \`gw2api plugins\` prints it; with other files it is a problem of the config,
    and is not loaded. Default: any.`,
);

/** Settings of the child process of an entry. */
const IsolationSchema = Closed({
  memory: Described(
    Size({ default: '256mb' }),
    'Max memory of the process, Node included (about 65 MB). Default: 256mb.',
  ),
  stall: Described(
    Duration({ default: '1s' }),
    'Max time that it may go without an answer to the gateway; then it is killed. Default: 1s.',
  ),
  env: Described(
    Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), { default: [] }),
    'Names of environment variables that it gets. Default: none.',
  ),
  read: Described(
    Type.Array(Text, { default: [] }),
    'Files and folders that it may read beside its package, relative to this file. Default: none.',
  ),
  wrap: Described(
    Type.Array(Text, { default: [] }),
    'A command before that of Node, which must pass on file descriptor 3: a sandbox such as bwrap. Default: none.',
  ),
});

export type RawIsolation = Static<typeof IsolationSchema>;

/** Schema of `isolate:`. */
export const Isolate = Type.Unsafe<boolean | RawIsolation>({
  type: ['boolean', 'object'],
  if: { type: 'object' },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: IsolationSchema,
});

/** Schema of an entry under `pipeline:` that is a stage. */
export const StageSchema = Closed({
  use: Described(Text, 'A built-in, a path relative to this file, or an npm package.'),
  integrity: EntryIntegrity,
  name: Described(
    Type.Optional(EntryName),
    "Its unique name in the log, in traces, metrics and messages. Default: the plugin's own.",
  ),
  enabled: Described(
    Type.Boolean({ default: true }),
    'false: it is neither loaded nor checked. Default: true.',
  ),
  with: Described(options, 'Its options, checked against its schema.'),
  when: Described(
    Type.Optional(WhenSchema),
    'Only requests that match every field. A single word stands for a list of one; * matches any text.',
  ),
  timeout: Described(
    Type.Optional(Duration()),
    "A limit for the stage's own time until it calls the next one. Default: none.",
  ),
  onError: Described(
    Type.Optional(Type.Enum(['fail', 'skip'])),
    'skip: requests continue without a stage that fails before it calls the next one. Default: fail.',
  ),
  isolate: Described(
    Type.Optional(Isolate),
    `true: it runs in a child process, whose faults do not reach the gateway; or { memory, stall, env, read, wrap }.
      Default: false.`,
  ),
  locked: Locked,
});

export type RawStage = Static<typeof StageSchema>;

/** Alternatives of an entry. */
export interface RawGroup {
  readonly oneOf: readonly RawStage[];
  readonly name?: string;
  readonly locked?: boolean;
}

export type RawEntry = RawStage | RawGroup;

/** Schema of an entry: a stage, or alternatives, which have no other settings by a rule of `entryErrors`. */
export const EntrySchema = Type.Unsafe<RawEntry>({
  type: 'object',
  properties: {
    ...StageSchema.properties,
    oneOf: Described(
      Type.Array(StageSchema, { minItems: 1 }),
      `Alternatives: a request passes the first one whose \`when\` holds, and only that one. The last one has no
        \`when\`. All of them must provide what a stage below requires.`,
    ),
  },
  additionalProperties: false,
  if: { type: 'object', required: ['oneOf'] },
  else: { required: ['use'] },
});

/** Schema of `pipeline:`. */
export const PipelineSchema = Described(
  Type.Array(EntrySchema, { minItems: 1 }),
  `The stages that a request passes, top to bottom. \`use\` is a built-in, a path relative to this file, or an npm
    package; a package that exports a Koa middleware factory (@koa/cors, koa-compress) is called with \`with\`.
    Every entry may say \`timeout: 2s\`, a limit for the stage's own time until it calls the next one (none by
    default), and \`onError: fail | skip\`: with skip, requests continue without a stage that fails before that.
    \`isolate: true\` runs it in a child process (isolation.md).`,
);

/** Schema of an entry under `formats:` with options. */
export const NamedFormat = Closed({ use: Text, integrity: EntryIntegrity, with: options });

const FormatEntry = Type.Unsafe<string | Static<typeof NamedFormat>>({
  type: ['string', 'object'],
  minLength: 1,
  if: { type: 'object' },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: NamedFormat,
});

/** Schema of `formats:`. */
export const FormatsSchema = Described(
  Type.Array(FormatEntry, { minItems: 1, default: ['messages', 'chat', 'responses', 'completions'] }),
  `The wire formats of callers: a built-in name, a path or an npm package, or { use: …, with: … } with its options. A
    reload adds and removes formats. Default: these four.`,
);

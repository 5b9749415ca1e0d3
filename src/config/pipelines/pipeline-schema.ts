import type { Static } from 'typebox';
import { defaultPipeline } from '../../plugin/core.js';
import { Closed, Described } from '../../kit/schema/type.js';
import { Duration, Type } from '../../plugin/index.js';
import { EntrySchema, Isolate, WhenSchema, type RawEntry } from '../stage-schema.js';

const Text = Type.String({ minLength: 1 });

/** Pattern of a pipeline's name. */
const pipelineName = String.raw`^[\w.:-]{1,64}$`;

/** Schema of a change; which keys belong together is a rule of `pipelineErrors`. */
const Change = Closed({
  before: Described(Type.Optional(Text), 'Entry above which `add` puts its entries.'),
  after: Described(Type.Optional(Text), 'Entry below which `add` puts its entries.'),
  add: Described(
    Type.Optional(Type.Array(EntrySchema, { minItems: 1, maxItems: 100 })),
    'Entries as under `pipeline:`.',
  ),
  replace: Described(Type.Optional(Text), 'Entry in whose place `by` comes.'),
  by: Described(Type.Optional(EntrySchema), 'An entry as under `pipeline:`.'),
  set: Described(Type.Optional(Text), 'Entry whose settings change: those that stand beside this key.'),
  with: Described(
    Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', minProperties: 1 })),
    'Options that are merged into those of the entry, object by object.',
  ),
  enabled: Described(Type.Optional(Type.Boolean()), 'true: it is on in this pipeline; false: off.'),
  when: Described(Type.Optional(WhenSchema), 'Conditions in place of those of the entry.'),
  timeout: Described(Type.Optional(Duration()), 'Time limit in place of that of the entry.'),
  onError: Described(Type.Optional(Type.Enum(['fail', 'skip'])), 'As for an entry.'),
  isolate: Described(Type.Optional(Isolate), 'In place of that of the entry.'),
  remove: Described(Type.Optional(Text), 'Entry that this pipeline lacks.'),
});

/** Kinds of changes, named by the key that names an entry, each with the keys that it takes beside that. */
export const changeKeys = {
  before: ['add'],
  after: ['add'],
  replace: ['by'],
  set: ['with', 'enabled', 'when', 'timeout', 'onError', 'isolate'],
  remove: [],
} as const satisfies Readonly<Record<string, readonly (keyof typeof Change.properties)[]>>;

export type ChangeKind = keyof typeof changeKeys;

/** True for a key of a change that names its kind. */
export function isChangeKind(key: string): key is ChangeKind {
  return Object.hasOwn(changeKeys, key);
}

export type RawChange = Omit<Static<typeof Change>, 'add' | 'by'> & {
  readonly add?: readonly RawEntry[];
  readonly by?: RawEntry;
};

/** Schema of an item of `pipelines:`, and of a file with one. */
export const PipelineItem = Closed({
  name: Described(
    Type.String({ pattern: pipelineName }),
    'Its unique name for keys, teams, tests and reports; `default` is `pipeline:`.',
  ),
  when: Described(
    Type.Optional(WhenSchema),
    `Requests that it takes if neither their key nor its team names a pipeline: the first pipeline whose conditions
      hold. Without it the pipeline is for keys and teams that name it.`,
  ),
  extends: Described(
    Type.String({ minLength: 1, default: defaultPipeline }),
    'The pipeline that it changes: `default`, or one above it. Default: `default`.',
  ),
  changes: Described(
    Type.Array(Change, { maxItems: 100, default: [] }),
    `Changes, applied in order to the list as it then stands. An entry is named by its \`name\`, else by its \`use\`;
      alternatives cannot be named, their \`oneOf\` takes a \`name\` for that.`,
  ),
  tests: Described(
    Type.Array(Text, { maxItems: 100, default: [] }),
    'Files of tests, relative to this file, whose requests must all land in this pipeline.',
  ),
});

export type RawPipeline = Omit<Static<typeof PipelineItem>, 'changes'> & {
  readonly changes: readonly RawChange[];
};

const Item = Type.Unsafe<string | RawPipeline>({
  type: ['string', 'object'],
  minLength: 1,
  if: { type: 'object' },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: PipelineItem,
});

/** Schema of `pipelines:`. */
export const PipelinesSchema = Described(
  Type.Array(Item, { maxItems: 200, default: [] }),
  `Further pipelines, for some keys, teams or requests: each the default one with changes. An item is such a pipeline,
    or the path of a file with one. The entries down to the last one that provides \`caller\` are common to all. Default:
    none.`,
);

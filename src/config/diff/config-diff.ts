import type { Static } from 'typebox';
import { Type } from '../../plugin/index.js';

const Kind = Type.Enum(['added', 'removed', 'changed']);

/** One setting with different values in two configs. */
export const SettingChange = Type.Object({
  path: Type.String({
    description:
      'Path within its entry, such as `with.cap` or `when.model`; for settings within the config, such as `listen.port`.',
  }),
  change: Kind,
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
  secret: Type.Optional(Type.Literal(true, { description: 'Its values are omitted.' })),
  restart: Type.Optional(Type.Literal(true, { description: 'It takes effect at the next start.' })),
});
export type SettingChange = Static<typeof SettingChange>;

const Neighbour = Type.Union([Type.String(), Type.Null()], {
  description: 'The entry right above; null: it is the first.',
});

/** An entry of a list of the config, identified by its name. */
export const EntryChange = Type.Object({
  name: Type.String({ description: 'Its id; of a stage its name, `rate-limit#2` for a second one.' }),
  change: Kind,
  moved: Type.Optional(Type.Object({ was: Neighbour, now: Neighbour })),
  settings: Type.Array(SettingChange, {
    description: 'For an added entry, those that differ from the defaults.',
  }),
});
export type EntryChange = Static<typeof EntryChange>;

/** A named pipeline that has changed. */
const PipelineDiff = Type.Object({
  ...EntryChange.properties,
  stages: Type.Array(EntryChange, {
    description:
      'Changes of the list that it comes to, without those of the default pipeline; of a new one against that.',
  }),
});
export type PipelineDiff = Static<typeof PipelineDiff>;

/**
 * The difference between the effects of two configs: defaults are filled in, durations are in one unit. Contains no
 * secrets and no values of the environment; may be sent as it is.
 */
export const ConfigDiff = Type.Object({
  stages: Type.Array(EntryChange, { description: 'Of the default pipeline.' }),
  pipelines: Type.Array(PipelineDiff),
  formats: Type.Array(EntryChange),
  slots: Type.Array(EntryChange),
  models: Type.Array(EntryChange),
  settings: Type.Array(SettingChange, {
    description: 'Of the sections that are not lists, such as `listen` and `store`.',
  }),
  restart: Type.Array(Type.String(), { description: 'Sections with changes that wait for the next start.' }),
});
export type ConfigDiff = Static<typeof ConfigDiff>;

export const noChanges: ConfigDiff = {
  stages: [],
  pipelines: [],
  formats: [],
  slots: [],
  models: [],
  settings: [],
  restart: [],
};

/** Number of changed entries and settings, by part of the config. */
export type ChangeCounts = Readonly<Record<Exclude<keyof ConfigDiff, 'restart'>, number>>;

/** Counts the changes of each part. */
export function countChanges({
  stages,
  pipelines,
  formats,
  slots,
  models,
  settings,
}: ConfigDiff): ChangeCounts {
  return {
    stages: stages.length,
    pipelines: pipelines.length,
    formats: formats.length,
    slots: slots.length,
    models: models.length,
    settings: settings.length,
  };
}

/** True for a difference that has no change. */
export function isEmptyDiff(diff: ConfigDiff): boolean {
  return Object.values(countChanges(diff)).every((count) => count === 0);
}

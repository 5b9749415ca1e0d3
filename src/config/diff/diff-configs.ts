import { samplingOf } from '../../plugin/format/index.js';
import type { CatalogModel } from '../../plugin/index.js';
import type { ConfigDiff } from './config-diff.js';
import { diffEntries, type Entry } from './entries.js';
import type { LoadedConfig } from './loaded-config.js';
import { diffPipelines } from './pipelines.js';
import { diffSettings, restartSections } from './settings.js';
import { slotEntries, writtenList } from './slots.js';
import { stageEntries } from './stages.js';
import { objectValue, optionsValue, plainValue } from './values.js';

/**
 * Compares the effects of two loaded configs: stages by their names and order, slots and models by their ids, formats
 * by their names. The files of plugins are not compared.
 */
export function diffConfigs(before: LoadedConfig, after: LoadedConfig): ConfigDiff {
  const settings = diffSettings(before.config, after.config);
  const each = (entriesOf: (loaded: LoadedConfig) => readonly Entry[], isOrdered: boolean) =>
    diffEntries({ before: entriesOf(before), after: entriesOf(after) }, { isOrdered });
  const stages = diffEntries(stageEntries(before, after), { isOrdered: true });
  return {
    stages,
    pipelines: diffPipelines(before, after, stages),
    formats: each(formatEntries, false),
    slots: each(slotEntries, true), // the policy `priority` goes by their order
    models: each(modelEntries, false),
    settings,
    restart: restartSections(settings),
  };
}

function formatEntries({ config, formats }: LoadedConfig): readonly Entry[] {
  const written = writtenList(config.written, 'formats');
  return formats.map(({ name, schema, options, defaults }, at) => {
    const { use, integrity } = config.formats[at] ?? {};
    const entry = Object(written[at]) as { readonly with?: unknown }; // a name has no options
    return {
      name,
      value: objectValue({
        use: plainValue(use, use),
        integrity: plainValue(integrity, integrity),
        with: optionsValue(options, entry.with, schema),
      }),
      defaults: () => objectValue({ use: plainValue(name, name), with: optionsValue(defaults, {}, schema) }),
    };
  });
}

function modelEntries({ config }: LoadedConfig): readonly Entry[] {
  return config.models.map((model) => {
    const value = plainValue(modelSettings(model), undefined);
    return { name: model.id, value, defaults: () => value }; // of a new one the name is enough
  });
}

/** A model as in the catalog file. */
function modelSettings(model: CatalogModel): object {
  const { id: _, created, ...settings } = model;
  const day = new Date(created * 1000).toISOString().slice(0, 10);
  return { ...settings, sampling: samplingOf(model), created: day };
}

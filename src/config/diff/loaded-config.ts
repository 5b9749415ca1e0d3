import type { Config } from '../config.js';

type Options = Readonly<Record<string, unknown>>;

/** A plugin of a config with its options. */
export interface LoadedPlugin {
  /** Name of the entry, if it has one; else that of the plugin. */
  readonly name: string;
  /** JSON Schema of the options. */
  readonly schema: object;
  /** Defaults filled in. */
  readonly options: Options;
  /** The options of an entry that gives none. */
  readonly defaults: Options;
}

/** Plugins of a slot. */
export interface LoadedSlotPlugins {
  readonly upstream: LoadedPlugin;
  readonly account: LoadedPlugin;
}

/** A checked config with the plugins that its entries name, in the order of the entries. */
export interface LoadedConfig {
  readonly config: Config;
  /** Undefined for a stage that is switched off: its plugin is not loaded. */
  readonly stages: readonly (LoadedPlugin | undefined)[];
  /** Plugins of the stages of each named pipeline, in the same way. */
  readonly pipelines: readonly (readonly (LoadedPlugin | undefined)[])[];
  readonly formats: readonly LoadedPlugin[];
  readonly slots: readonly LoadedSlotPlugins[];
}

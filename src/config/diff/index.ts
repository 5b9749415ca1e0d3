/** The door of this room. */
export { ConfigDiff, countChanges, isEmptyDiff, noChanges } from './config-diff.js';
export type { ChangeCounts, EntryChange, SettingChange } from './config-diff.js';
export { diffConfigs } from './diff-configs.js';
export type { LoadedConfig, LoadedPlugin, LoadedSlotPlugins } from './loaded-config.js';
export { showOptions, type ShownOptions } from './options.js';
export { needsRestart } from './settings.js';

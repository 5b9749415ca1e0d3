import type { LoadedPlugin } from './loaded-config.js';
import { compareValues, optionsValue } from './values.js';

/** Options of a plugin as they may be shown. */
export interface ShownOptions {
  /** Defaults filled in, without secrets and with variables as the file has them. */
  readonly shown: unknown;
  /** Paths of the values that are not the defaults. */
  readonly changed: readonly string[];
}

/** Compares the options of a plugin with their defaults. `written`: as in the file, before variables are substituted. */
export function showOptions({ options, defaults, schema }: LoadedPlugin, written: unknown): ShownOptions {
  const value = optionsValue(options, written, schema);
  const changes = compareValues(optionsValue(defaults, {}, schema), value);
  return { shown: value.shown, changed: changes.map(({ path }) => path) };
}

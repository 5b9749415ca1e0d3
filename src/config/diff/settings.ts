import type { Config } from '../config.js';
import { mapSections, sections } from '../sections/sections.js';
import type { Section } from '../sections/section.js';
import type { SettingChange } from './config-diff.js';
import { compareValues, objectValue, type Value } from './values.js';

/** Changes of the settings that are not lists, with those that wait for the next start. */
export function diffSettings(before: Config, after: Config): SettingChange[] {
  return compareValues(settingsValue(before), settingsValue(after)).map((change) =>
    takesRestart(change.path) ? { ...change, restart: true } : change,
  );
}

/** Names of the sections with changed settings that take effect only at a restart. */
export function needsRestart(started: Config, now: Config): string[] {
  return restartSections(diffSettings(started, now));
}

/** Sections of the changes that take effect at the next start. */
export function restartSections(changes: readonly SettingChange[]): string[] {
  const sections = changes.filter(({ restart }) => restart).map(({ path }) => path.replace(/\..*$/s, ''));
  return [...new Set(sections)];
}

function takesRestart(path: string): boolean {
  const [name = '', key = ''] = path.split('.');
  const section = new Map<string, Section>(Object.entries(sections)).get(name);
  return section?.needsRestart === true && !section.reloaded.has(key);
}

function settingsValue(config: Config): Value {
  const written = Object(config.written) as Readonly<Record<string, unknown>>; // any object has properties, perhaps undefined
  return objectValue(mapSections(({ compared }, name) => compared(config[name], written[name])));
}

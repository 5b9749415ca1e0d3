import type { StageConfig } from '../config/config.js';
import { redactMarked, type Operation, type Plugin, type StateKey } from '../plugin/internal.js';

/** Stage as `check` and `/admin/pipeline` show it. A disabled one is not loaded and shows only its config. */
export interface StageInfo extends Pick<StageConfig, 'use' | 'enabled' | 'when' | 'path' | 'at'> {
  readonly name: string;
  /** As the file has them, with the defaults of those that it leaves out, without those marked as secret. */
  readonly options: object;
  readonly requires: readonly StateKey[];
  readonly provides: readonly StateKey[];
  readonly seals: readonly StateKey[];
  readonly operations: readonly Operation[];
}

export function toStageInfo(
  { use, enabled, when, path, at, written }: StageConfig,
  loaded: { readonly plugin: Plugin; readonly options: object } | undefined,
): StageInfo {
  const { name, requires, provides, seals, operations } = loaded?.plugin ?? nothing(use);
  const given = { ...loaded?.options, ...written };
  const options = redactMarked(given, loaded?.plugin.options) as object; // the copy of an object is an object
  return { name, use, enabled, when, path, at, options, requires, provides, seals, operations };
}

function nothing(name: string): Omit<Plugin, 'options' | 'setup'> {
  return { name, requires: [], provides: [], seals: [], operations: [] };
}

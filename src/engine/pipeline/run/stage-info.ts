import type { IsolationConfig, StageConfig } from '../../../config/config.js';
import { redactMarked } from '../../../kit/schema/redact.js';
import type { Operation, Plugin } from '../../../plugin/index.js';
import type { StateKey } from '../../../plugin/core.js';
import { conditionTexts } from '../order/conditions.js';

/** Stage as `check` and `/admin/pipeline` show it. A disabled one is not loaded and shows only its config. */
export interface StageInfo extends Pick<StageConfig, 'use' | 'enabled' | 'when' | 'path' | 'at'> {
  /** Time limit; null: none. */
  readonly timeoutMs: number | null;
  readonly onError: 'fail' | 'skip';
  readonly name: string;
  /** Path of the entry whose alternative it is: `pipeline[3]`; null for an entry of its own. */
  readonly group: string | null;
  /** Conditions in words: `model is sonnet-*`. */
  readonly conditions: readonly string[];
  /** As in the file, with defaults filled in, without secrets. */
  readonly options: object;
  readonly requires: readonly StateKey[];
  readonly provides: readonly StateKey[];
  readonly seals: readonly StateKey[];
  readonly operations: readonly Operation[];
  /** Limits of its child process; null: it runs in the gateway's own. */
  readonly isolate: IsolationConfig | null;
  /** False: its changes may lose a prompt cache of the upstream. */
  readonly keepsPrefix: boolean;
}

export function toStageInfo(
  config: StageConfig,
  loaded: { readonly plugin: Plugin; readonly options: object } | undefined,
): StageInfo {
  const { use, name: ownName, enabled, when, group: entry, path, at, written } = config;
  const limits = {
    timeoutMs: config.timeoutMs ?? null,
    onError: config.skipsErrors ? ('skip' as const) : ('fail' as const),
    isolate: config.isolation ?? null,
  };
  const plugin = loaded?.plugin ?? disabledPlugin(ownName ?? use);
  const { name, requires, provides, seals, operations, keepsPrefix = true } = plugin;
  const isKept = typeof keepsPrefix === 'function' ? keepsPrefix(loaded?.options ?? {}) : keepsPrefix;
  const given = { ...loaded?.options, ...written };
  const options = redactMarked(given, loaded?.plugin.options) as object; // the copy of an object is an object
  const group = entry?.path ?? null;
  const conditions = conditionTexts(when);
  const keys = { requires, provides, seals, operations, keepsPrefix: isKept };
  return { name, use, enabled, group, when, conditions, ...limits, path, at, options, ...keys };
}

function disabledPlugin(name: string): Omit<Plugin, 'options' | 'setup'> {
  return { name, requires: [], provides: [], seals: [], intercepts: false, operations: [] };
}

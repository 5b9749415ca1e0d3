import path from 'node:path';
import { doorsOf } from '../../engine/pipeline/load/integrity/doors.js';
import { integrityOf } from '../../engine/pipeline/load/integrity/integrity.js';
import type { ListedPlugin } from '../../engine/pipeline/load/listed-plugins.js';

/** A plugin as reports have it, with what is known of its code. */
export interface DescribedPlugin extends Omit<ListedPlugin, 'options'> {
  /** Hash of its code, for `integrity` of its entry; of one from outside. */
  readonly integrity?: string;
  /** Reason why it has none. */
  readonly uncovered?: string;
  /** Public modules of this package that it imports; of one from outside. */
  readonly doors?: readonly string[];
}

/** Adds what is known of a plugin's code to what its entry says; `configDir`: folder of the config. */
export async function describeCode(
  { options: _, ...described }: ListedPlugin,
  configDir: string,
): Promise<DescribedPlugin> {
  const { file, isOutside } = described;
  if (file === undefined || !isOutside) return described;
  try {
    const { hash, root, file: real } = await integrityOf(file, configDir);
    const folder = root === real ? path.dirname(real) : root;
    return { ...described, integrity: hash, doors: doorsOf(real, folder) };
  } catch (error) {
    const uncovered = error instanceof Error ? error.message : String(error);
    return { ...described, uncovered, doors: doorsOf(file, path.dirname(file)) };
  }
}

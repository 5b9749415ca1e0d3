import path from 'node:path';
import { within } from '../../../../kit/time/within.js';
import { isFromOutside, moduleFile, type ResolveOptions } from '../import/resolve.js';
import { integrityOf } from './integrity.js';

/** A plugin as an entry names it, with the hash that its code must have. */
export interface PinnedPlugin {
  readonly use: string;
  readonly integrity: string;
}

/**
 * Reason why a plugin must not be loaded, phrased to follow the name of the key `integrity`; undefined if its code has
 * this hash. `folder`: of the built-ins of its kind.
 */
export async function integrityFault(
  { use, integrity }: PinnedPlugin,
  where: ResolveOptions,
  folder: string,
  timeoutMs: number,
): Promise<string | undefined> {
  if (!(await isFromOutside(use, where, folder)))
    return `is for plugins from outside, and "${use}" is a part of the gateway; remove it`;
  try {
    const reading = moduleFile(use, where, folder).then((file) => integrityOf(file, where.baseDir));
    const { hash, root } = await within(reading, timeoutMs, 'its files could not be read in time');
    if (hash === integrity) return undefined;
    const shown = path.relative(where.baseDir, root) || path.basename(root);
    return `is ${integrity}, but the code in ${shown} is ${hash}; if you trust it as it is, write that, which \`gw2api plugins\` prints`;
  } catch (error) {
    return `cannot be checked: ${error instanceof Error ? error.message : String(error)}`;
  }
}

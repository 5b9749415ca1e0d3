import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { programUrl } from '../../../../kit/package-files.js';
import { ownSpecifier } from '../../../../kit/version.js';
import { resolveSync } from './plugin-hook.js';

// Importing this module lets every module of the process import the public modules of this package. It is
// imported only where a plugin from outside is listed, and runs once a process, as every module does.

/**
 * Members missing in the types of Node 20: hooks of 22.15 and later, and the function by which `require` finds a file.
 */
interface Resolution {
  readonly registerHooks?: (hooks: { resolve: typeof resolveSync }) => void;
  _resolveFilename(request: string, ...others: readonly unknown[]): string;
}

const resolution = module as typeof module & Resolution;
if (resolution.registerHooks) resolution.registerHooks({ resolve: resolveSync });
else module.register(programUrl('engine/pipeline/load/import/plugin-hook.js'));

// No hook changes where `require` starts to look, so that it would find only what is installed beside the plugin.
const resolveFilename = resolution._resolveFilename.bind(module);
resolution._resolveFilename = (request, ...others) => {
  const own = ownSpecifier(request);
  return own === undefined ? resolveFilename(request, ...others) : fileURLToPath(import.meta.resolve(own));
};

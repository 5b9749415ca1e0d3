import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf } from './entries.js';
import { repository } from './outputs.js';

/**
 * Step of a build: writes `build/package.json`, by which the modules in `build/` import each other, and not the bundle,
 * under the names of the package.
 */
const { name, version, type, exports } = manifestOf('');
const modules = Object.entries(exports).map(([subpath, target]) => [
  subpath,
  typeof target === 'string' ? target : target.default.replace('./dist/', './'),
]);
const manifest = {
  name,
  version,
  type,
  private: true,
  imports: {
    '#src/*': './*',
    '#plugins/*': './plugins/*',
    '#typebox': 'typebox',
    '#typebox/*': 'typebox/*',
  },
  exports: Object.fromEntries(modules),
};
writeFileSync(join(repository, 'build/package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './outputs.js';

/**
 * Step of a build: writes `build/package.json`, by which the modules in `build/` import each other, and not the bundle,
 * under the names of the package.
 */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const own = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as Manifest;
const { name, version, type } = own;
const doors = Object.entries(own.exports).map(([door, target]) => [
  door,
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
  exports: Object.fromEntries(doors),
};
writeFileSync(join(repository, 'build/package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

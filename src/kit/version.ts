import { existsSync, readFileSync } from 'node:fs';
import { packageFile } from './package-files.js';

/** Fields of our package.json, which always has both. */
interface Manifest {
  readonly name: string;
  readonly version: string;
}

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as Manifest;

/** Commit of the build; undefined if it was built without GW_COMMIT (`build/commit.ts`). */
const commitFile = packageFile('dist/commit');
const commit = existsSync(commitFile) ? readFileSync(commitFile, 'utf8').slice(0, 12) : undefined;

/** Name of the program. */
export const name = 'gw2api';

/** Name of its npm package, by which plugins import its public modules. */
export const packageName = manifest.name;

/** Former name of the package, which plugins may still import. */
export const formerPackageName = 'gw2api';

/** The version of this package, without the commit of its build. */
export const release = manifest.version;

/** The version of this build: that of the package, and the commit as its build metadata (`0.1.0+0123456789ab`). */
export const version = commit === undefined ? release : `${release}+${commit}`;

/** Specifier of a public module of this package, for one under its name or its former one; undefined for all others. */
export function ownSpecifier(specifier: string): string | undefined {
  for (const name of [packageName, formerPackageName])
    if (specifier === name || specifier.startsWith(`${name}/`))
      return `${packageName}${specifier.slice(name.length)}`;
  return undefined;
}

import { existsSync, readFileSync } from 'node:fs';

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Commit of the build; undefined where it was built without GW_COMMIT (`build-commit.ts`). */
const commitFile = new URL('./commit', import.meta.url);
const commit = existsSync(commitFile) ? readFileSync(commitFile, 'utf8').slice(0, 12) : undefined;

export const name = 'gw2api';

/** The version of this package, without the commit of its build. */
export const release = String((manifest as { version: unknown }).version); // package.json always has one

/** The version of this build: that of the package, and the commit as its build metadata (`0.1.0+0123456789ab`). */
export const version = commit === undefined ? release : `${release}+${commit}`;

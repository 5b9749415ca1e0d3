import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './outputs.js';

/**
 * Step of a build: keeps the commit that GW_COMMIT names, 7 to 40 hexadecimal digits, beside the program, whose version then
 * carries it; without GW_COMMIT none.
 */
const file = join(repository, 'dist/commit');
const commit = process.env['GW_COMMIT'] ?? '';
if (commit === '') rmSync(file, { force: true });
else if (/^[0-9a-f]{7,40}$/i.test(commit)) {
  mkdirSync(join(repository, 'dist'), { recursive: true });
  writeFileSync(file, commit.toLowerCase());
} else throw new Error(`GW_COMMIT must be a commit of 7 to 40 hexadecimal digits, not "${commit}".`);

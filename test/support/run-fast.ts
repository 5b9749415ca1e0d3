import path from 'node:path';
import { fastFiles } from './fast-files.js';
import { runMocha } from './run-mocha.js';

/** `npm run test:fast [-- OPTIONS OF MOCHA]`: runs the tests that neither listen nor spawn, beside no server. */
for (const name of Object.keys(process.env)) if (name.startsWith('GW_TEST_')) delete process.env[name];
const options = ['--parallel', '--jobs', '2', '--require', path.resolve('build/test/support/fast-guard.js')];
await runMocha([...options, ...process.argv.slice(2), ...fastFiles(path.resolve('build/test'))]);

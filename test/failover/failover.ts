import { runSuite, tableOf } from './suite.js';

/** `npm run failover`: the suite in its real times, as a table. `--scale 0.1` takes a tenth of them. */
const at = process.argv.indexOf('--scale');
const scale = at < 0 ? 1 : Number(process.argv[at + 1]);
if (!(scale > 0 && scale <= 1)) throw new Error('--scale: must be a number above 0 and at most 1');

const results = await runSuite(scale);
const lines = results.map(({ id, mode, why, ms, primaryCalls, backupCalls }) => {
  const calls = `${primaryCalls} + ${backupCalls} calls`;
  return [`${id} ${mode}: ${Math.round(ms)} ms`, calls, ...(why === undefined ? [] : [why])].join(', ');
});
process.stdout.write(`${[tableOf(results), '', ...lines].join('\n')}\n`);
process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;

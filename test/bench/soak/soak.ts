import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { exitOnSignals, Lab } from '../measure/lab.js';
import { table } from '../report/table.js';
import { Caller } from './caller.js';
import { returning, sample, type Sample } from './samples.js';
import { seeded } from '../../support/seeded.js';
import { Tally, traffic } from './traffic.js';
import { judge } from './verdict.js';
import { hasPanel, keys, visits } from './visits.js';
import { startWorld, type World } from './world.js';

const usage = `npm run soak [-- OPTIONS]

  --minutes 10   how long there is traffic
  --lanes 8      how many callers at a time
  --seed 1       the same traffic for the same seed
  --node PATH    the Node that all processes run on
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    lanes: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    node: { type: 'string', default: process.execPath },
    help: { type: 'boolean', default: false },
  },
});

/** Idle connections to a simulator are kept for a minute. */
const idleMs = 65_000;

exitOnSignals();
if (values.help) console.log(usage);
else process.exitCode = await soak();

/** Gives the exit code. */
async function soak(): Promise<number> {
  const lab = await Lab.open(values.node);
  try {
    const world = await startWorld(lab);
    const faults = await run(world);
    for (const fault of faults) console.log(`✗ ${fault}`);
    if (faults.length === 0)
      console.log('✓ all of it returned to where it began, and every answer was right');
    return faults.length === 0 ? 0 : 1;
  } finally {
    await lab.end();
  }
}

/** Gives what is wrong. */
async function run(world: World): Promise<readonly string[]> {
  const minutes = Number(values.minutes);
  const lanes = Number(values.lanes);
  const random = seeded(Number(values.seed));
  const canIssue = await withCaller(world, hasPanel);
  if (!canIssue) console.log('There is no panel in this version: no keys are issued and revoked.');
  const kinds = canIssue ? [...visits, keys] : visits;
  const tally = new Tally();
  const go = (ms: number) =>
    withCaller(world, (caller) =>
      traffic(caller, kinds, tally, { lanes, random, untilMs: performance.now() + ms }),
    );

  await go(Math.min(60_000, minutes * 6000)); // so that all that loads late is there
  const before = await quiet(world);
  const watch = watchOver(world, Math.ceil(minutes));
  await go(minutes * 60_000);
  const during = await watch.end();
  const after = await quiet(world, before);

  const { text, faults } = judge(before, during, after);
  console.log(`\n${tallyTable(tally)}\n\n${text}\n\n${world.log.reloads} reloads\n`);
  const complaints = world.log.complaints.slice(0, 10).map((line) => `the gateway said: ${line}`);
  const reloads = world.log.reloads === watch.reloads ? [] : [`${watch.reloads} reloads were asked for`];
  return [...faults, ...tally.failures, ...complaints, ...reloads];
}

function tallyTable({ counts }: Tally): string {
  const rows = [...counts].map(([name, { done, failed }]) => [name, String(done), String(failed)]);
  return table(['visits', 'done', 'failed'], rows);
}

interface Watch {
  /** Number of reloads that were asked for. */
  reloads: number;
  end(): Promise<readonly Sample[]>;
}

/** A sample each 5 s and a reload each minute, while there is traffic. */
function watchOver(world: World, minutes: number): Watch {
  const over = new AbortController();
  const watch: Watch = { reloads: 0, end };
  const samples: Sample[] = [];
  const watching = (async () => {
    for (let at = 1; at <= minutes * 13 && !over.signal.aborted; at += 1) {
      await sleep(5000, undefined, { signal: over.signal }).catch(() => undefined); // its end is no fault
      samples.push(await withCaller(world, (caller) => sample(caller, world.pid)));
      if (at % 12 !== 6) continue;
      watch.reloads += 1;
      await world.reload();
    }
  })();
  async function end(): Promise<readonly Sample[]> {
    over.abort();
    await watching;
    return samples;
  }
  return watch;
}

/** The gateway once nothing is under way and no connection is kept, or as soon as it is as it was `before`. */
async function quiet(world: World, before?: Sample): Promise<Sample> {
  const untilMs = performance.now() + idleMs;
  for (;;) {
    await sleep(before ? 1000 : idleMs);
    const now = await withCaller(world, (caller) => sample(caller, world.pid));
    if (performance.now() >= untilMs) return now;
    if (before && returning.every((field) => now[field] <= before[field])) return now;
  }
}

/** Lends a caller, whose connections then close. */
async function withCaller<Result>(
  { origin }: World,
  use: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  const caller = new Caller(origin);
  try {
    return await use(caller);
  } finally {
    await caller.close();
  }
}

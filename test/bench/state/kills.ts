import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { Agent } from 'undici';
import { exitOnSignals, freePort, Lab, shipped } from '../measure/lab.js';
import { table } from '../report/table.js';
import { serve, writeConfig } from '../targets/gateway.js';
import { ask, CrashLoad, type Seen } from './crash-load.js';
import { Panel } from './panel.js';
import { kinds, makePlace, type Kind, type Place } from './places.js';

const usage = `npm run bench:kills [-- OPTIONS]: what a gateway that is killed under load leaves behind

  --kills 10          how often
  --store sqlite      one of ${kinds.join(', ')}; given more than once: each; default: all
  --postgres URL      a server to make a database on; default $GW_TEST_POSTGRES_URL
  --lanes 8           how many requests at a time
`;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10' },
    store: { type: 'string', multiple: true, default: [...kinds] },
    postgres: { type: 'string', default: process.env['GW_TEST_POSTGRES_URL'] ?? '' },
    lanes: { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
});

const columns = ['end', 'after s', 'answered', 'cut', 'rows', 'twice', 'of the last second', 'lost of them'];
const moreColumns = ['lost before', 'oldest lost ms', 'keys', 'lost', 'of no use', 'integrity'];

exitOnSignals();
if (values.help) console.log(usage);
else await run();

async function run(): Promise<void> {
  for (const kind of kinds.filter((each) => values.store.includes(each))) {
    if (kind === 'postgres' && !values.postgres) console.log('no PostgreSQL: --postgres names none');
    else await measure(kind);
  }
}

async function measure(kind: Kind): Promise<void> {
  const lab = await Lab.open(process.execPath);
  const place = await makePlace(kind, lab.folder, values.postgres);
  try {
    const faults = await lives(lab, place, kind);
    for (const fault of faults) console.log(`✗ ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await lab.end();
    await place.remove();
  }
}

/** One gateway after the other on one store. Gives what is wrong. */
async function lives(lab: Lab, place: Place, kind: Kind): Promise<readonly string[]> {
  const folder = await prepare(lab, place);
  const ends: NodeJS.Signals[] = [...Array<NodeJS.Signals>(Number(values.kills)).fill('SIGKILL'), 'SIGTERM'];
  const keys: string[] = [];
  const lines: string[][] = [];
  const faults: string[] = [];
  for (const [nth, signal] of ends.entries()) {
    const life = await live(lab, folder, { name: `life-${nth}`, signal, keys });
    keys.push(...life.seen.keys);
    const found = await inspect(lab, folder, life, keys);
    const integrity = place.settings.kind === 'sqlite' ? integrityOf(place.settings.file) : '';
    lines.push([signal, (life.lastedMs / 1000).toFixed(1), ...found.map(String), integrity]);
    faults.push(...faultsIn(lines.length, signal, found, integrity));
  }
  console.log(`\n${kind}, killed under load\n\n${table([...columns, ...moreColumns], lines)}\n`);
  return faults;
}

/** Gives the folder that the gateways run in. */
async function prepare(lab: Lab, place: Place): Promise<string> {
  const port = String(await freePort());
  const { origin } = await lab.spawnServer(Number(port), lab.node, [
    shipped('dist/plugins/upstreams/simulator/main.js'),
    '--port',
    port,
  ]);
  const folder = path.join(lab.folder, 'gateway');
  await mkdir(folder);
  const slot = { upstream: 'messages', baseUrl: origin, account: { kind: 'api-key', key: 'upstream-key' } };
  await writeConfig(folder, {
    slots: ['a', 'b'].map((id) => ({ id, ...slot })),
    models: shipped('config/models.yaml'),
    store: place.text,
  });
  return folder;
}

interface Life {
  readonly name: string;
  readonly seen: Seen;
  readonly endedAtMs: number;
  readonly lastedMs: number;
}

interface Plan {
  readonly name: string;
  readonly signal: NodeJS.Signals;
  readonly keys: readonly string[];
}

async function live(lab: Lab, folder: string, { name, signal, keys }: Plan): Promise<Life> {
  const { child, origin } = await serve(lab, folder);
  const first = keys.length > 0 ? [] : [await new Panel(origin).issueKey(`${name}-first`)];
  const startedAtMs = performance.now();
  const load = new CrashLoad(origin, name, Number(values.lanes), [...keys, ...first]);
  await load.isWarm;
  await sleep(1500 + Math.random() * 2500);
  const ended = once(child, 'exit');
  const endedAtMs = performance.now();
  child.kill(signal);
  await ended;
  const seen = await load.end();
  return {
    name,
    seen: { ...seen, keys: [...first, ...seen.keys] },
    endedAtMs,
    lastedMs: endedAtMs - startedAtMs,
  };
}

/** Asks a new gateway what it has of the last one; in the order of the columns. */
async function inspect(
  lab: Lab,
  folder: string,
  { name, seen, endedAtMs }: Life,
  keys: readonly string[],
): Promise<readonly number[]> {
  const { child, origin } = await serve(lab, folder);
  const panel = new Panel(origin);
  const useless = await countUseless(origin, keys);
  const missing = keys.length - (await panel.keyNames()).length;
  const rows = (await panel.requestIds()).filter((id) => id.startsWith(`${name}-`));
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  const known = new Set(rows);
  const answered = [...seen.answeredAtMs].map(([id, atMs]) => ({
    isKept: known.has(id),
    ms: endedAtMs - atMs,
  }));
  const last = answered.filter(({ ms }) => ms <= 1000);
  const lost = answered.filter(({ isKept }) => !isKept);
  const lostLate = last.filter(({ isKept }) => !isKept).length;
  const oldest = Math.round(Math.max(0, ...lost.map(({ ms }) => ms)));
  const twice = rows.length - known.size;
  const ofRows = [answered.length, seen.cut, rows.length, twice, last.length, lostLate];
  return [...ofRows, lost.length - lostLate, oldest, keys.length, Math.max(0, missing), useless];
}

async function countUseless(origin: string, keys: readonly string[]): Promise<number> {
  const agent = new Agent();
  let useless = 0;
  for (const [nth, key] of keys.entries()) {
    const request = { id: `use-${nth}`, format: 'messages', isStream: false, key } as const;
    if (!(await ask(agent, origin, request).catch(() => false))) useless += 1;
  }
  await agent.destroy();
  return useless;
}

function integrityOf(file: string): string {
  const database = openDatabase(file);
  const [row] = database.prepare('pragma integrity_check').all() as [{ readonly integrity_check: string }]; // at least one
  database.close();
  return row.integrity_check;
}

function faultsIn(
  nth: number,
  signal: NodeJS.Signals,
  found: readonly number[],
  integrity: string,
): readonly string[] {
  const [, , , twice = 0, , lostLate = 0, lostBefore = 0, , , missing = 0, useless = 0] = found;
  const faults = [
    twice > 0 && `${twice} rows are there twice`,
    lostBefore > 0 && `${lostBefore} rows of answers more than a second before are lost`,
    signal === 'SIGTERM' && lostLate > 0 && `a clean stop has lost ${lostLate} rows`,
    missing + useless > 0 && `${missing} keys are lost, ${useless} of no use`,
    !['', 'ok'].includes(integrity) && `the file is damaged: ${integrity}`,
  ];
  return faults.filter((fault) => fault !== false).map((fault) => `end ${nth} (${signal}): ${fault}`);
}

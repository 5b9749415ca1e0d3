import { parseArgs } from 'node:util';
import type { Store } from '#src/state/store/contract/store.js';
import { exitOnSignals, Lab } from '../measure/lab.js';
import { median } from '../report/statistics.js';
import { table } from '../report/table.js';
import { kinds, makePlace, openPlace, type Kind, type Place } from './places.js';
import { questionsOf, type Question } from './questions.js';
import { retention } from './retention.js';
import { batches } from './rows.js';
import { timed, type Taken } from './turn-watch.js';

const usage = `npm run bench:ledger [-- OPTIONS]: what the console asks, and retention, with many rows

  --rows 1000000      how many
  --store sqlite      one of ${kinds.join(', ')}; given more than once: each; default: all
  --postgres URL      a server to make a database on; default $GW_TEST_POSTGRES_URL
  --runs 5            how often each question is asked
  --append            only measures appending
`;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    store: { type: 'string', multiple: true, default: [...kinds] },
    postgres: { type: 'string', default: process.env['GW_TEST_POSTGRES_URL'] ?? '' },
    runs: { type: 'string', default: '5' },
    append: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

exitOnSignals();
if (values.help) console.log(usage);
else await run();

async function run(): Promise<void> {
  const lab = await Lab.open(process.execPath);
  try {
    for (const kind of kinds.filter((each) => values.store.includes(each))) {
      if (kind === 'postgres' && !values.postgres) console.log('no PostgreSQL: --postgres names none');
      else await measure(kind, lab.folder);
    }
  } finally {
    await lab.end();
  }
}

async function measure(kind: Kind, folder: string): Promise<void> {
  const place = await makePlace(kind, folder, values.postgres);
  try {
    await measureIn(place, kind);
  } finally {
    await place.remove();
  }
}

async function measureIn(place: Place, kind: Kind): Promise<void> {
  const nowMs = Date.now();
  const store = await openPlace(place);
  try {
    await fill(store, kind, nowMs);
    if (values.append) return;
    const rows = [];
    for (const question of await questionsOf(store.ledger, nowMs)) rows.push(await answer(question, store));
    console.log(
      `${table(['asked', 'median ms', 'worst ms', 'CPU ms', 'longest turn ms', 'of CPU'], rows)}\n`,
    );
    console.log(await retention(store, nowMs));
  } finally {
    await store.close();
  }
}

/** In batches as large as those of the ledger's writer when there is much to write. */
async function fill(store: Store, kind: Kind, nowMs: number): Promise<void> {
  const count = Number(values.rows);
  let taken = 0;
  let cpuMs = 0;
  for (const batch of batches(count, nowMs, 100)) {
    const { ms, cpuMs: ofBatch } = await timed(() => store.ledger.append(batch));
    taken += ms;
    cpuMs += ofBatch;
  }
  const each = `${((taken * 1000) / count).toFixed(1)} µs and ${((cpuMs * 1000) / count).toFixed(1)} µs of CPU each`;
  console.log(`\n${kind}: ${count} rows appended by hundreds, ${each}\n`);
}

async function answer(question: Question, { ledger }: Store): Promise<readonly string[]> {
  const all: Taken[] = [];
  for (let nth = 0; nth < Number(values.runs); nth += 1) all.push(await timed(() => question.ask(ledger)));
  const wall = all.map(({ ms }) => ms);
  const cpu = all.map(({ cpuMs }) => cpuMs);
  const turns = [all.map(({ turn }) => turn.ms), all.map(({ turn }) => turn.cpuMs)];
  const times = [median(wall), Math.max(...wall), median(cpu), ...turns.map(median)];
  return [question.name, ...times.map((ms) => ms.toFixed(1))];
}

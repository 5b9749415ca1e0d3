import { LoadGenerator } from '../load/generator.js';
import { EndedEarly } from '../measure/lab.js';
import { interleave, type Contender, type Cost } from '../measure/rounds.js';
import { median } from '../report/statistics.js';
import { table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import { startPassThrough } from '../targets/plain.js';
import type { Ask } from '../workloads.js';
import type { Report, Section, Setting } from './section.js';

/**
 * W2 with one and with two processes. Where load generator and upstream share the cores, requests a second say
 * little: what counts is the CPU time of the busiest thread, which bounds the throughput on cores of its own. What
 * a machine whose cores are all busy takes from everybody shows in the pass-through's two processes.
 */
export const workers: Section = {
  name: 'workers',
  title: 'W2 with listen.workers 1 and 2',
  weight: 3,
  run: (setting) => measure(setting).catch(notSupported),
};

const ask: Ask = { format: 'messages', isStream: true, script: 'words-64' };
const goal = 1.7;

async function measure(setting: Setting): Promise<Report> {
  const { lab, isQuick, requests = 3000 } = setting;
  const { origin } = await lab.forkServer('test/bench/upstream/process.js');
  const generator = await LoadGenerator.start(lab);
  const targets = new Map([
    ['pass-through, 1', await startPassThrough(lab, origin)],
    ['pass-through, 2', await startPassThrough(lab, origin, { processes: 2 })],
    ['gateway, 1', await startGateway(lab, origin, { workers: 1 })],
    ['gateway, 2', await startGateway(lab, origin, { workers: 2 })],
  ]);
  const contenders = [...targets].map(([name, target]): Contender => {
    return { name, target, ask, requests: Math.ceil(requests / (isQuick ? 3 : 1)) };
  });
  const costs = await interleave(contenders, generator, setting);
  return reportOf([...costs].map(([name, all]) => ({ name, ...capacityOf(all) })));
}

interface Row extends ReturnType<typeof capacityOf> {
  readonly name: string;
}

function reportOf(rows: readonly Row[]): Report {
  const boundOf = new Map(rows.map(({ name, bound }) => [name, bound]));
  const cells = rows.map((row) => {
    const ratio = row.bound / (boundOf.get(row.name.replace(/\d$/, '1')) ?? NaN);
    const verdict = row.name === 'gateway, 2' ? ` (≥ ${goal} ${ratio >= goal ? '✓' : '✗'})` : '';
    const figures = [row.cpuMicros, row.busiestMicros, row.bound].map((value) => value.toFixed(0));
    return [row.name, ...figures, `${ratio.toFixed(2)}${verdict}`, row.requestsPerSecond.toFixed(0)];
  });
  return { text: table(header, cells), rows };
}

const header = [
  'who, processes',
  'CPU µs a request',
  'of the busiest thread',
  'requests/s it allows',
  'of one',
  'requests/s here',
];

function capacityOf(all: readonly Cost[]) {
  const busiestMicros = median(all.map((cost) => cost.busiestMicros));
  return {
    cpuMicros: median(all.map((cost) => cost.cpuMicros)),
    busiestMicros,
    bound: 1_000_000 / busiestMicros,
    requestsPerSecond: median(all.map((cost) => cost.requestsPerSecond)),
  };
}

function notSupported(error: unknown): Report {
  if (!(error instanceof EndedEarly)) throw error;
  return { text: 'Not supported: the gateway refuses to start with two workers.', rows: [] };
}

import { LoadGenerator } from '../load/generator.js';
import { EndedEarly } from '../measure/lab.js';
import { interleave, type Contender, type Cost } from '../measure/rounds.js';
import { median } from '../report/statistics.js';
import { table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import type { Ask } from '../workloads.js';
import type { Report, Section, Setting } from './section.js';

/**
 * W2 with one and with two processes. Where load generator and upstream share the cores, requests a second say
 * little: what counts is the CPU time of the busiest thread, which bounds the throughput on cores of its own.
 */
export const workers: Section = {
  name: 'workers',
  title: 'W2 with listen.workers 1 and 2',
  weight: 3,
  run: (setting) => measure(setting).catch(notSupported),
};

const ask: Ask = { format: 'messages', isStream: true, script: 'words-64' };
const goal = 1.7;

async function measure({ lab, requests = 1500, isQuick, rounds, deadlineMs }: Setting): Promise<Report> {
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const generator = await LoadGenerator.start(lab);
  const contender = async (count: number): Promise<Contender> => ({
    name: String(count),
    target: await startGateway(lab, upstream.origin, { workers: count }),
    ask,
    requests: Math.ceil(requests / (isQuick ? 3 : 1)),
  });
  const contenders = [await contender(1), await contender(2)];
  const costs = await interleave(contenders, generator, { rounds, deadlineMs });
  const rows = [...costs].map(([count, all]) => ({ workers: Number(count), ...capacityOf(all) }));
  const [one] = rows;
  const cells = rows.map((row) => {
    const ratio = row.bound / (one?.bound ?? NaN);
    const verdict = row.workers === 1 ? '' : ` (≥ ${goal} ${ratio >= goal ? '✓' : '✗'})`;
    const figures = [row.cpuMicros, row.busiestMicros, row.bound].map((value) => value.toFixed(0));
    return [
      String(row.workers),
      ...figures,
      `${ratio.toFixed(2)}${verdict}`,
      row.requestsPerSecond.toFixed(0),
    ];
  });
  return { text: table(header, cells), rows };
}

const header = [
  'workers',
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

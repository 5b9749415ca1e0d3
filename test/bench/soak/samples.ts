import { readdir, readlink } from 'node:fs/promises';
import { memoryOfTree } from '../measure/proc.js';
import type { Caller } from './caller.js';

/** The gateway at one moment. */
export interface Sample {
  readonly atMs: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly files: number;
  /** Number of open files by path; sockets count as `socket`. */
  readonly fileKinds: ReadonlyMap<string, number>;
  readonly handles: number;
  readonly timers: number;
  readonly openRequests: number;
  readonly inFlight: number;
  readonly queued: number;
  /** The 99th percentile since the last sample. */
  readonly loopDelayMs: number;
}

/** Fields of a sample that have to return to their first value, once all is quiet. */
export const returning = [
  'files',
  'handles',
  'timers',
  'openRequests',
  'inFlight',
  'queued',
] as const satisfies Figure[];

/** Those fields of a sample that are one number. */
export type Figure = Exclude<keyof Sample, 'fileKinds'>;

export async function sample(caller: Caller, pid: number): Promise<Sample> {
  const { status, body } = await caller.send('GET', '/metrics');
  if (status !== 200) throw new Error(`GET /metrics: ${status}`);
  const metrics = readMetrics(body);
  const value = (name: string, label = '') => metrics.sum(name, label);
  const fileKinds = await openFiles(pid);
  return {
    atMs: performance.now(),
    rssMb: (await memoryOfTree(pid)).rssMb,
    heapMb: value('nodejs_heap_size_used_bytes') / 1024 / 1024,
    files: [...fileKinds.values()].reduce((sum, count) => sum + count, 0),
    fileKinds,
    handles: value('nodejs_active_handles_total'),
    timers: value('nodejs_active_resources', 'type="Timeout"'),
    // The scrape itself is one.
    openRequests: value('gw2api_requests_in_flight') - 1,
    inFlight: value('gw2api_slot_in_flight'),
    queued: value('gw2api_slot_queued'),
    loopDelayMs: value('nodejs_eventloop_lag_p99_seconds') * 1000,
  };
}

async function openFiles(pid: number): Promise<ReadonlyMap<string, number>> {
  const folder = `/proc/${pid}/fd`;
  const kinds = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const target = await readlink(`${folder}/${name}`).catch(() => 'closed meanwhile');
    const kind = target.replace(/:\[\d+\]$/, ''); // socket:[4711]
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

/** The text of `GET /metrics`; `sum` adds up the series of a name whose labels have this part. */
export function readMetrics(text: string): { sum(name: string, label?: string): number } {
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => /^([^{\s]+)(\{.*\})? (\S+)/.exec(line) ?? []);
  return {
    sum: (name, label = '') =>
      series
        .filter(([, of, labels = '']) => of === name && labels.includes(label))
        .reduce((sum, [, , , value]) => sum + Number(value), 0),
  };
}

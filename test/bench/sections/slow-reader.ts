import { setTimeout as sleep } from 'node:timers/promises';
import { LoadGenerator } from '../load/generator.js';
import { peakDuring } from '../measure/memory-watch.js';
import { memoryOfTree } from '../measure/proc.js';
import { jobOf } from '../measure/rounds.js';
import { mark, table } from '../report/table.js';
import { startTargets } from '../targets/index.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** W8: what is kept in memory of an answer whose reader takes its time. */
export const slowReader: Section = {
  name: 'W8',
  title: '2 MB to a reader that takes 0.5 MB a second',
  weight: 2,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: true, script: 'bulk-2mb' };

/** So many at a time that what they keep stands out from what the collector has not come to yet. */
const readers = 64;
const bytesPerMs = 500;
/** They do not come all at once: the collector of a process that only waits has nothing to begin for. */
const rampMs = 4000;
const goalMb = 1;

async function measure({ lab, targets: wanted }: Setting) {
  const targets = await startTargets(lab, wanted);
  const generator = await LoadGenerator.start(lab);
  const rows: Grown[] = [];
  for (const [line, target] of targets) rows.push({ line, ...(await grownBy(target, generator)) });
  const cells = rows.map(({ line, rssMb, anonymousMb }) => [
    line,
    `${rssMb.toFixed(2)}${line === 'gateway' ? mark(rssMb, goalMb) : ''}`,
    anonymousMb.toFixed(2),
  ]);
  return { text: table(['who', 'RSS MB a stream', 'of it heap and buffers'], cells), rows };
}

interface Grown {
  readonly line: string;
  readonly rssMb: number;
  readonly anonymousMb: number;
}

/** A stream's share of what the processes grow by, at most. */
async function grownBy(target: Target, generator: LoadGenerator): Promise<Omit<Grown, 'line'>> {
  const job = jobOf({ target, ask });
  await generator.run({ ...job, requests: 200, concurrency: 2 }); // so that heap and code are what they are
  await sleep(500);
  const idle = await memoryOfTree(target.pid);
  const load = generator.run({ ...job, requests: readers, concurrency: readers, rampMs, bytesPerMs });
  const peak = await peakDuring(target.pid, load);
  return {
    rssMb: (peak.rssMb - idle.rssMb) / readers,
    anonymousMb: (peak.anonymousMb - idle.anonymousMb) / readers,
  };
}

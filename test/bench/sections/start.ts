import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf } from '../load/bodies.js';
import { memoryOfTree, threadTimes, treeOf } from '../measure/proc.js';
import { median } from '../report/statistics.js';
import { mark, table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** What starting costs: from the spawn of the process to its first answer, and the memory it then keeps. */
export const start: Section = {
  name: 'start',
  title: 'from spawn to the first answer',
  weight: 1,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: false, script: 'words-16' };
const goals = { firstAnswerMs: 600, rssMb: 120 } as const;

interface Start {
  readonly firstAnswerMs: number;
  /** User and system time until then. */
  readonly cpuMs: number;
  /** A second later. */
  readonly rssMb: number;
}

async function measure(setting: Setting) {
  const { lab, isQuick } = setting;
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const starts: Start[] = [];
  while (starts.length < (isQuick ? 3 : 7)) starts.push(await once(setting, upstream.origin));
  const middle = (field: keyof Start) => median(starts.map((each) => each[field]));
  const [firstAnswerMs, cpuMs, rssMb] = [middle('firstAnswerMs'), middle('cpuMs'), middle('rssMb')];
  const cells = [
    'gateway',
    `${firstAnswerMs.toFixed(0)}${mark(firstAnswerMs, goals.firstAnswerMs)}`,
    cpuMs.toFixed(0),
    `${rssMb.toFixed(0)}${mark(rssMb, goals.rssMb)}`,
  ];
  return {
    text: table(['who', 'first answer ms', 'CPU ms until then', 'idle RSS MB'], [cells]),
    rows: starts,
  };
}

async function once({ lab }: Setting, upstream: string): Promise<Start> {
  const target = await startGateway(lab, upstream);
  const { path, headers } = target.address(ask);
  const answer = await fetch(target.origin + path, { method: 'POST', headers, body: bodyOf(ask) });
  await answer.text();
  const firstAnswerMs = performance.now() - target.spawnedMs;
  if (!answer.ok) throw new Error(`The first answer has status ${answer.status}.`);
  const times = await threadTimes(await treeOf(target.pid));
  await sleep(1000);
  const { rssMb } = await memoryOfTree(target.pid);
  await lab.stop(target.pid);
  return { firstAnswerMs, cpuMs: [...times.values()].reduce((sum, ms) => sum + ms, 0), rssMb };
}

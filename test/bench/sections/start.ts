import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf } from '../load/bodies.js';
import { memoryOfTree, threadTimes, treeOf } from '../measure/proc.js';
import { median } from '../report/statistics.js';
import { mark, table } from '../report/table.js';
import { buildsIn, startGateway } from '../targets/gateway.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** Start of a process: from its spawn to its first answer, and the memory it then keeps. */
export const start: Section = {
  name: 'start',
  title: 'from spawn to the first answer',
  weight: 1,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: false, script: 'words-16' };
const goals = { firstAnswerMs: 600, idleRssMb: 120 } as const;
const idleMs = 12_000;

interface Start {
  readonly firstAnswerMs: number;
  /** User and system time until then. */
  readonly cpuMs: number;
  /** A second later, with the garbage of the start. */
  readonly rssMb: number;
  /** After some seconds without a request, when V8 has given back what it does not need. */
  readonly idleRssMb: number;
}

async function measure(setting: Setting) {
  const { lab, isQuick } = setting;
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const rows: (Start & { readonly line: string })[] = [];
  const builds = buildsIn(lab);
  for (let round = 0; round < (isQuick ? 1 : 5); round += 1)
    for (const [line, checkout] of builds)
      rows.push({ line, ...(await once(setting, upstream.origin, checkout)) });
  const cells = [...builds.keys()].map((each) =>
    cellsOf(
      each,
      rows.filter(({ line }) => line === each),
    ),
  );
  return {
    text: table(['who', 'first answer ms', 'CPU ms until then', 'RSS MB', 'idle RSS MB'], cells),
    rows,
  };
}

function cellsOf(line: string, starts: readonly Start[]): readonly string[] {
  const middle = (field: keyof Start) => median(starts.map((each) => each[field]));
  const [firstAnswerMs, idleRssMb] = [middle('firstAnswerMs'), middle('idleRssMb')];
  return [
    line,
    `${firstAnswerMs.toFixed(0)}${mark(firstAnswerMs, goals.firstAnswerMs)}`,
    middle('cpuMs').toFixed(0),
    middle('rssMb').toFixed(0),
    `${idleRssMb.toFixed(0)}${mark(idleRssMb, goals.idleRssMb)}`,
  ];
}

async function once({ lab }: Setting, upstream: string, checkout: string | undefined): Promise<Start> {
  const target = await startGateway(lab, upstream, { checkout, key: 'master' });
  const { path, headers } = target.address(ask);
  const answer = await fetch(target.origin + path, { method: 'POST', headers, body: bodyOf(ask) });
  await answer.text();
  const firstAnswerMs = performance.now() - target.spawnedMs;
  if (!answer.ok) throw new Error(`The first answer has status ${answer.status}.`);
  const times = await threadTimes(await treeOf(target.pid));
  await sleep(1000);
  const { rssMb } = await memoryOfTree(target.pid);
  await sleep(idleMs);
  const { rssMb: idleRssMb } = await memoryOfTree(target.pid);
  await lab.stop(target.pid);
  const cpuMs = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  return { firstAnswerMs, cpuMs, rssMb, idleRssMb };
}

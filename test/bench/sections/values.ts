import { hasMoreValues } from '@gw2api/gateway/plugin';
import { threadTimes, treeOf } from '../measure/proc.js';
import { mark, table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** CPU time of bodies of very many values: the count before the parse, and a body that it refuses. */
export const values: Section = {
  name: 'values',
  title: 'bodies of many values: the count by kind of text, and 40 MB of {}',
  weight: 1,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: false, script: 'words-16' };
const goals = { countMsPerMb: 8, refusalCpuMs: 1000 } as const;
const mb = 1_000_000;

/** About 16 MB each. */
const texts: Readonly<Record<string, () => string>> = {
  'values of two bytes': () => `[${'{},'.repeat(5 * mb)}{}]`,
  'numbers of one digit': () => `[${'1,'.repeat(8 * mb)}1]`,
  'short messages': () =>
    `[${`${JSON.stringify({ role: 'user', content: 'a few words' })},`.repeat(400_000)}1]`,
  'one long string': () => JSON.stringify('x'.repeat(16 * mb)),
  'escaped quotes': () => JSON.stringify('"'.repeat(8 * mb)),
};

async function measure(setting: Setting) {
  const counts = Object.entries(texts).map(([name, make]) => ({ name, ...countIn(Buffer.from(make())) }));
  const refused = await refusal(setting);
  const cells = counts.map(({ name, msPerMb }) => [
    name,
    `${msPerMb.toFixed(2)}${mark(msPerMb, goals.countMsPerMb)}`,
    '',
  ]);
  cells.push([
    '40 MB of {}, refused',
    '',
    `${refused.cpuMs.toFixed(0)}${mark(refused.cpuMs, goals.refusalCpuMs)}`,
  ]);
  return {
    text: table(['text', 'count, CPU ms a MB', 'CPU ms of the gateway'], cells),
    rows: [...counts, refused],
  };
}

function countIn(json: Buffer): { msPerMb: number } {
  hasMoreValues(json, Infinity); // compiled by now
  const before = process.cpuUsage();
  hasMoreValues(json, Infinity);
  const { user, system } = process.cpuUsage(before);
  return { msPerMb: (user + system) / 1000 / (json.length / mb) };
}

async function refusal({ lab }: Setting): Promise<{ name: string; cpuMs: number }> {
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const target = await startGateway(lab, upstream.origin);
  const { path, headers } = target.address(ask);
  const send = (body: Buffer) => fetch(target.origin + path, { method: 'POST', headers, body });
  await (await send(Buffer.from('{}'))).text();
  const before = await cpuOf(target.pid);
  const answer = await send(Buffer.from(`[${'{},'.repeat((40 * mb) / 3)}{}]`));
  await answer.text();
  if (answer.status !== 400) throw new Error(`The body was answered with status ${answer.status}.`);
  const cpuMs = (await cpuOf(target.pid)) - before;
  await lab.stop(target.pid);
  return { name: 'refused', cpuMs };
}

async function cpuOf(pid: number): Promise<number> {
  const times = await threadTimes(await treeOf(pid));
  return [...times.values()].reduce((sum, ms) => sum + ms, 0);
}

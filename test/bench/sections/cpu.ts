import { fileURLToPath } from 'node:url';
import { LoadGenerator } from '../load/generator.js';
import { interleave, type Contender, type Costs } from '../measure/rounds.js';
import { profileRounds } from '../measure/steady-profile.js';
import { costTable, rowsOf } from '../report/cost-table.js';
import { fileTable, fileTimes, type FileTimes } from '../report/file-times.js';
import { cpuOf, pairsOf, pairTable } from '../report/pair-table.js';
import { readProfile, topTenOf } from '../report/profile.js';
import { Sources } from '../report/sources.js';
import { threadMedian, threadTable } from '../report/thread-table.js';
import { startTargets } from '../targets/index.js';
import { linesOf, type Workload } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** A workload that is measured by its CPU time a request. */
export function cpuSection(workload: Workload): Section {
  const { name, title } = workload;
  return { name, title, weight: 4, profilesItself: true, run: (setting) => measure(workload, setting) };
}

async function measure(workload: Workload, setting: Setting) {
  const { lab, targets: wanted, profiles } = setting;
  const targets = await startTargets(lab, wanted, profiles !== undefined);
  const generator = await LoadGenerator.start(lab);
  const requests = requestsIn(workload, setting);
  const contenders = linesOf(workload, wanted).flatMap(({ name, target: of, ask }): Contender[] => {
    const target = targets.get(of);
    return target
      ? [{ name, target, ask, requests: Math.ceil(of === 'portkey' ? requests / 4 : requests) }]
      : [];
  });
  const isTraced = wanted.includes('traced');
  const others = new Set([
    ...(isTraced ? ['gateway'] : []),
    'pass-through',
    ...workload.goals.map(({ of }) => of),
  ]);
  const warmUpRequests = setting.warmUpRequests * (isTraced ? tracedWarmUp : 1);
  const costs = await interleave(contenders, generator, { ...setting, warmUpRequests });
  const rows = rowsOf([...others], costs);
  const pairs = pairsOf(new Map([...costs].map(([name, all]) => [name, all.map(cpuOf)])));
  const text = costTable(workload.goals, rows) + pairTable(pairs) + threadTable(costs);
  const profile = profiles === undefined ? '' : await profiled(contenders, costs, generator, setting);
  return { text: text + profile, rows, pairs };
}

function requestsIn(workload: Workload, { requests, isQuick }: Setting): number {
  return requests ?? workload.requests / (isQuick ? 3 : 1);
}

/** A tenth of the requests is traced: their code is compiled for good after ten times as many requests. */
const tracedWarmUp = 10;

/** The profiles of the builds, after the rounds that are measured. */
async function profiled(
  contenders: readonly Contender[],
  costs: Costs,
  generator: LoadGenerator,
  { lab: { against = ownCheckout }, profiles = '' }: Setting,
): Promise<string> {
  const sources = new Sources();
  const builds: FileTimes[] = [];
  const tops: string[] = [];
  for (const contender of contenders.filter(({ name }) => name === 'gateway' || name === 'old')) {
    const { name: line } = contender;
    const profile = await readProfile(await profileRounds(contender, generator, profiles));
    const checkout = line === 'old' ? against : ownCheckout;
    const threadMicros = threadMedian(costs, line, 'main');
    builds.push({ line, times: fileTimes(profile, checkout, sources), threadMicros });
    if (line === 'gateway') tops.push(topTenOf([profile], sources));
  }
  return ['', ...tops, fileTable(builds)].join('\n\n');
}

const ownCheckout = fileURLToPath(new URL('../../../../', import.meta.url));

import { LoadGenerator } from '../load/generator.js';
import { interleave, type Contender } from '../measure/rounds.js';
import { costTable, rowsOf } from '../report/cost-table.js';
import { cpuOf, pairsOf, pairTable } from '../report/pair-table.js';
import { startTargets } from '../targets/index.js';
import { linesOf, type Workload } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** A workload that is measured by its CPU time a request. */
export function cpuSection(workload: Workload): Section {
  const { name, title } = workload;
  return { name, title, weight: 4, run: (setting) => measure(workload, setting) };
}

async function measure(workload: Workload, setting: Setting) {
  const { lab, targets: wanted, requests: asked, isQuick } = setting;
  const targets = await startTargets(lab, wanted);
  const generator = await LoadGenerator.start(lab);
  const requests = asked ?? workload.requests / (isQuick ? 3 : 1);
  const contenders = linesOf(workload, wanted).flatMap(({ name, target: of, ask }): Contender[] => {
    const target = targets.get(of);
    return target
      ? [{ name, target, ask, requests: Math.ceil(of === 'portkey' ? requests / 4 : requests) }]
      : [];
  });
  const isTraced = wanted.includes('traced');
  const compared = isTraced ? ['gateway'] : [];
  const others = new Set([...compared, 'pass-through', ...workload.goals.map(({ of }) => of)]);
  const warmUpRounds = isTraced ? tracedWarmUpRounds : undefined;
  const costs = await interleave(contenders, generator, { ...setting, warmUpRounds });
  const rows = rowsOf([...others], costs);
  const pairs = pairsOf(new Map([...costs].map(([name, all]) => [name, all.map(cpuOf)])));
  return { text: costTable(workload.goals, rows) + pairTable(pairs), rows, pairs };
}

/** A tenth of the requests is traced: their code is compiled for good after ten times as many requests. */
const tracedWarmUpRounds = 30;

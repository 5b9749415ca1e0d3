import { LoadGenerator } from './load/generator.js';
import { Lab } from './measure/lab.js';
import { interleave } from './measure/rounds.js';
import { optionsIn, usage, type Options } from './options.js';
import { costTable, rowsOf } from './report/cost-table.js';
import { startTargets } from './targets/index.js';
import { installPortkey } from './targets/portkey.js';
import { linesOf, workloads, type Line, type Workload } from './workloads.js';

const options = optionsIn(process.argv.slice(2));
if (options) await main(options);
else console.log(usage);

async function main(asked: Options): Promise<void> {
  if (asked.installsPortkey) await installPortkey();
  const deadlineMs = performance.now() + asked.minutes * 60_000;
  for (const node of asked.nodes) {
    for (const workload of workloads.filter(({ name }) => asked.only?.has(name) ?? true)) {
      await measure(workload, node, asked, deadlineMs);
    }
  }
}

async function measure(workload: Workload, node: string, asked: Options, deadlineMs: number): Promise<void> {
  const lab = await Lab.open(node);
  try {
    const targets = await startTargets(lab, asked.targets);
    const generator = await LoadGenerator.start(lab);
    const lines = linesOf(workload, asked.targets);
    const whole = asked.requests ?? workload.requests / (asked.isQuick ? 3 : 1);
    const requestsOf = ({ target }: Line) => Math.ceil(target === 'portkey' ? whole / 4 : whole);
    const costs = await interleave(
      { lines, requestsOf, rounds: asked.rounds, deadlineMs },
      generator,
      targets,
    );
    console.log(
      `\n**${workload.name}** ${workload.title}\n\n${costTable(workload, rowsOf(workload, costs))}`,
    );
  } finally {
    await lab.end();
  }
}

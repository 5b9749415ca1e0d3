import { LoadGenerator } from '../load/generator.js';
import { peakDuring } from '../measure/memory-watch.js';
import { memoryOfTree } from '../measure/proc.js';
import { jobOf } from '../measure/rounds.js';
import { mark, table } from '../report/table.js';
import { startTargets } from '../targets/index.js';
import type { Ask } from '../workloads.js';
import type { Section, Setting } from './section.js';

/** Memory held while an upstream sends nothing but pings. */
export const earlyPings: Section = {
  name: 'pings',
  title: '600 MB of pings before the first content',
  weight: 1,
  isLong: true,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: true, script: 'pings-600mb' };
const goalMb = 100;

/** The gateway alone: what only passes bytes on sends its client all of them. */
async function measure({ lab }: Setting) {
  const targets = await startTargets(lab, ['gateway']);
  const generator = await LoadGenerator.start(lab);
  const rows: { line: string; rssMb: number; seconds: number }[] = [];
  for (const [line, target] of targets) {
    const idle = await memoryOfTree(target.pid);
    const load = generator.run({ ...jobOf({ target, ask }), requests: 1, concurrency: 1 });
    const peak = await peakDuring(target.pid, load);
    rows.push({ line, rssMb: peak.rssMb - idle.rssMb, seconds: (await load).wallMs / 1000 });
  }
  const cells = rows.map(({ line, rssMb, seconds }) => [
    line,
    `${rssMb.toFixed(0)}${mark(rssMb, goalMb)}`,
    seconds.toFixed(1),
  ]);
  return { text: table(['who', 'RSS MB more', 'seconds'], cells), rows };
}

import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { exitOnSignals, Lab } from './measure/lab.js';
import { optionsIn, usage, type Options } from './options.js';
import { sections } from './sections/index.js';
import type { Section } from './sections/section.js';
import { installPortkey } from './targets/portkey.js';
import { missingOf } from './targets/index.js';

const options = optionsIn(
  process.argv.slice(2),
  sections.map(({ name }) => name),
);
exitOnSignals();
if (options) await main(options);
else console.log(usage);

async function main(asked: Options): Promise<void> {
  if (asked.installsPortkey) await installPortkey();
  const absent = missingOf(asked.targets);
  if (absent.length > 0) console.log(`Not installed here, so not measured: ${absent.join(', ')}.`);
  const present = asked.targets.filter((name) => !absent.includes(name));
  const deadlineMs = performance.now() + asked.minutes * 60_000;
  const planned = asked.nodes.flatMap((node) =>
    sections
      .filter(({ name }) => asked.only?.has(name.toLowerCase()) ?? true)
      .map((section) => ({ node, section })),
  );
  const results: object[] = [];
  for (const [at, { node, section }] of planned.entries()) {
    const left = planned.slice(at).reduce((sum, { section: { weight } }) => sum + weight, 0);
    const nowMs = performance.now();
    const own = nowMs + ((deadlineMs - nowMs) * section.weight) / left;
    results.push(await runSection(section, node, { ...asked, targets: present }, own));
  }
  if (asked.json !== undefined)
    await writeFile(asked.json, JSON.stringify({ cores: availableParallelism(), results }, null, 2));
}

async function runSection(
  section: Section,
  node: string,
  asked: Options,
  deadlineMs: number,
): Promise<object> {
  const lab = await Lab.open(node);
  try {
    const { targets, requests, isQuick, rounds } = asked;
    const { name, title } = section;
    const report = await section.run({ lab, targets, requests, isQuick, rounds, deadlineMs });
    console.log(`\n**${name}** ${title} (Node ${lab.version})\n\n${report.text}`);
    return { name, title, node: lab.version, rows: report.rows };
  } finally {
    await lab.end();
  }
}

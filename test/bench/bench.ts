import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { exitOnSignals, Lab } from './measure/lab.js';
import { OptionError, optionsIn, usage, type Options } from './options.js';
import { topTen } from './report/profile.js';
import { sections } from './sections/index.js';
import type { Section } from './sections/section.js';
import { installPortkey } from './targets/portkey.js';
import { missingOf } from './targets/index.js';

exitOnSignals();
try {
  const names = sections.map(({ name }) => name);
  const options = optionsIn(process.argv.slice(2), names);
  if (options) await main(options);
  else console.log(usage);
} catch (error) {
  console.error(error instanceof OptionError ? error.message : error);
  process.exitCode = 1;
}

async function main(asked: Options): Promise<void> {
  if (asked.installsPortkey) await installPortkey();
  const absent = missingOf(asked.targets);
  if (absent.length > 0) console.log(`Not installed here, so not measured: ${absent.join(', ')}.`);
  const present = asked.targets.filter((name) => !absent.includes(name));
  const deadlineMs = performance.now() + asked.minutes * 60_000;
  const planned = asked.nodes.flatMap((node) =>
    sections
      .filter(({ name, isLong }) => asked.only?.has(name.toLowerCase()) ?? !(isLong && asked.isQuick))
      .map((section) => ({ node, section })),
  );
  const results: object[] = [];
  for (const [at, { node, section }] of planned.entries()) {
    const left = planned.slice(at).reduce((sum, { section: { weight } }) => sum + weight, 0);
    const nowMs = performance.now();
    const own = nowMs + ((deadlineMs - nowMs) * section.weight) / left;
    if (nowMs > deadlineMs)
      console.log(`\n**${section.name}** ${section.title}: not measured, the time was over.`);
    else results.push(await runSection(section, node, { ...asked, targets: present }, own));
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
  const { name, title } = section;
  const profiles = asked.profile === undefined ? undefined : resolve(asked.profile, name);
  const isWhole = profiles !== undefined && !section.profilesItself;
  const flags = isWhole ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : [];
  const lab = await Lab.open(node, flags, asked.against);
  const { version } = lab;
  try {
    const { text, ...report } = await section.run({ ...asked, lab, profiles, deadlineMs });
    console.log(`\n**${name}** ${title} (Node ${version})\n\n${text}`);
    return { name, title, node: version, ...report };
  } finally {
    await lab.end(); // which is when the profiles are written
    if (isWhole) console.log(`\n${await topTen(profiles)}`);
  }
}

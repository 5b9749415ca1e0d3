import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LoadGenerator } from '../load/generator.js';
import { askProbe } from './ask-probe.js';
import { concurrency, jobOf, type Contender } from './rounds.js';

/** Profiles a contender that was started with the probe and is warm, over some rounds; returns the profile's file. */
export async function profileRounds(
  { name, target, ask, requests }: Contender,
  generator: LoadGenerator,
  folder: string,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}.cpuprofile`);
  await askProbe(target.child, { probe: 'profile' });
  await generator.run({ ...jobOf({ target, ask }), requests: requests * rounds, concurrency });
  await askProbe(target.child, { probe: 'end-profile', file });
  return file;
}

const rounds = 5;

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/config.js';
import { allStages } from '../../config/rules.js';
import type { CredentialCipher } from '../../state/store/credential-cipher.js';
import type { ResealedPart } from '../feature.js';
import { audit } from './audit.js';
import { RecordedFiles } from './recorded-files.js';

/** Re-encrypts the recordings of this machine, which is audited in their folders. */
export async function resealRecordings(
  config: Config,
  cipher: CredentialCipher,
): Promise<readonly ResealedPart[]> {
  const parts: ResealedPart[] = [];
  for (const folder of foldersOf(config))
    if (existsSync(folder)) parts.push(await resealFolder(folder, cipher));
  return parts;
}

/** Folders of the stages `record`, enabled or not, and the default one. */
function foldersOf(config: Config): readonly string[] {
  const given = allStages(config).flatMap(({ use, with: { folder }, baseDir = config.baseDir }) =>
    use === 'record' && typeof folder === 'string' ? [path.resolve(baseDir, folder)] : [],
  );
  return [...new Set([path.resolve('data/recorded'), ...given])];
}

async function resealFolder(folder: string, cipher: CredentialCipher): Promise<ResealedPart> {
  await audit(folder, { what: 'rotate', sinceMs: 0 });
  const recorded = await RecordedFiles.open(folder);
  const { current: currentKey } = await cipher.keyIds();
  const count = { resealed: 0, current: 0 };
  const problems: string[] = [];
  for await (const { name } of recorded.all())
    await recorded
      .reseal(name, cipher, currentKey)
      .then((isDone) => (count[isDone ? 'resealed' : 'current'] += 1))
      .catch((error: unknown) =>
        problems.push(`${name}: ${String(error instanceof Error ? error.message : error)}`),
      );
  return {
    what: `recordings in ${folder}`,
    resealed: count.resealed,
    current: count.current + count.resealed,
    problems,
  };
}

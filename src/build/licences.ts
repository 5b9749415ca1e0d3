import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
}

/** Licences of the packages that modules belong to, one after another. Throws for a package without one. */
export async function licences(modules: readonly string[]): Promise<string> {
  const folders = new Set(
    modules.flatMap((file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file) ?? []),
  );
  const texts = await Promise.all([...folders].toSorted().map(licenceOf));
  return `The bundle has code of these packages.\n\n${[...new Set(texts)].toSorted().join('\n')}`;
}

async function licenceOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const files = await readdir(folder);
  const file = files.find((each) => /^licen[sc]e/i.test(each));
  if (file === undefined && license === undefined) throw new Error(`${folder} has no licence.`);
  const text = file === undefined ? '' : `\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  return `== ${name} ${version} (${license})\n${text}`;
}

import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { repository } from './outputs.js';

/**
 * Step of a build: removes outputs of the compiler without a source, which `tsc -b` keeps, so that their tests do not
 * run.
 */
const places = [
  { outputs: 'build/test/', sources: 'test/' },
  { outputs: 'build/plugins/', sources: 'plugins/' },
  { outputs: 'build/', sources: 'src/' },
]; // the more special ones first

for (const entry of readdirSync(path.join(repository, 'build'), { recursive: true, encoding: 'utf8' })) {
  const output = `build/${entry.split(path.sep).join('/')}`;
  if (isStale(output)) rmSync(path.join(repository, output));
}

function isStale(output: string): boolean {
  const [, stem] = /^(.*?)(?:\.d\.ts|\.js|\.js\.map)$/.exec(output) ?? [];
  const place = places.find(({ outputs }) => output.startsWith(outputs));
  if (stem === undefined || place === undefined) return false;
  return !existsSync(path.join(repository, `${place.sources}${stem.slice(place.outputs.length)}.ts`));
}

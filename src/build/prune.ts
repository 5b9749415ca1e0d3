import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Step of a build: removes outputs whose source has moved or gone, which `tsc -b` leaves, so that their tests do
 * not run.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders of outputs with those of their sources; the more special ones first. */
const places = [
  { outputs: 'dist/test/', sources: 'test/' },
  { outputs: 'dist/plugins/', sources: 'plugins/' },
  { outputs: 'dist/', sources: 'src/' },
];

/** The page of the console, which Vite writes and clears itself. */
const page = 'dist/console/web/';

for (const entry of readdirSync(path.join(root, 'dist'), { recursive: true, encoding: 'utf8' })) {
  const output = `dist/${entry.split(path.sep).join('/')}`;
  if (!output.startsWith(page) && isStale(output)) rmSync(path.join(root, output));
}

function isStale(output: string): boolean {
  const [, stem] = /^(.*?)(?:\.d\.ts|\.js|\.js\.map)$/.exec(output) ?? [];
  const place = places.find(({ outputs }) => output.startsWith(outputs));
  if (stem === undefined || place === undefined) return false;
  return !existsSync(path.join(root, `${place.sources}${stem.slice(place.outputs.length)}.ts`));
}

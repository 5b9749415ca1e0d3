import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { factsOfConfig } from './facts.js';
import { writeReference } from './reference.js';
import { writeTables } from './tables.js';

/** `npm run build:reference`: the words and defaults of the schemas, for `config/gateway.reference.yaml` and the guides. */
const facts = await factsOfConfig();
const guides = (await readdir('config')).filter((name) => name.endsWith('.md'));
await rewrite('config/gateway.reference.yaml', writeReference);
for (const name of guides) await rewrite(path.join('config', name), writeTables);

async function rewrite(file: string, write: typeof writeReference): Promise<void> {
  await writeFile(file, write(await readFile(file, 'utf8'), facts));
}

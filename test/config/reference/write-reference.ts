import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { questionSchema, replySchema } from '#src/plugin/remote/index.js';
import { factsOfConfig } from './facts.js';
import { writeReference } from './reference.js';
import { writeTables } from './tables.js';

/** `npm run build:reference`: the words and defaults of the schemas, for `config/gateway.reference.yaml` and the guides; the schemas of the protocol of remote stages. */
const facts = await factsOfConfig();
const guides = (await readdir('config')).filter((name) => name.endsWith('.md'));
await rewrite('config/gateway.reference.yaml', writeReference);
for (const name of guides) await rewrite(path.join('config', name), writeTables);
for (const [name, schema] of Object.entries({ question: questionSchema, reply: replySchema }))
  await writeFile(`config/remote-${name}.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`);

async function rewrite(file: string, write: typeof writeReference): Promise<void> {
  await writeFile(file, write(await readFile(file, 'utf8'), facts));
}

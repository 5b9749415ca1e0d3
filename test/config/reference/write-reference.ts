import { readFile, writeFile } from 'node:fs/promises';
import { factsOfConfig } from './facts.js';
import { writeReference } from './reference.js';

/** `npm run build:reference`: the words and defaults of the schemas, for `config/gateway.reference.yaml`. */
const file = 'config/gateway.reference.yaml';
await writeFile(file, writeReference(await readFile(file, 'utf8'), await factsOfConfig()));

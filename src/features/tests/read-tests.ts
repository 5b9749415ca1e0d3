import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { checkSourceBy } from '../../config/checked.js';
import type { ConfigProblem } from '../../config/config.js';
import { locate, readVerbatim, type Path, type Source } from '../../config/document.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { compileCheck } from '../../plugin/format/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { isRecord } from '../../kit/schema/record.js';
import { timeMs } from '../../kit/schema/units.js';
import type { ConfigTest } from './config-test.js';
import { readSlots, readSteps, type Reading } from './read-requests.js';
import { TestFileSchema, type RawTest, type RawTestFile } from './test-schema.js';

/** Tests of a file, and its problems. */
export interface TestFile {
  /** As named in messages. */
  readonly file: string;
  readonly text: string;
  /** Path of the config that a `*.test.yaml` names, from the working directory. */
  readonly config?: string;
  readonly tests: readonly ConfigTest[];
  /** Files that `bodyFile` names. */
  readonly bodyFiles: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** Tests read from one file; all valid tests, even if others are invalid. */
export function readTestFile(text: string, file: string): TestFile {
  const source = readVerbatim(text, file);
  const { config } = source.value as Partial<RawTestFile>; // any value has properties
  const named = typeof config === 'string' && config !== '' ? fromFolderOf(file, config) : undefined;
  return { ...readSource(source, text), ...(named !== undefined && { config: named }) };
}

/** A path beside a file, or an absolute one unchanged. */
function fromFolderOf(file: string, name: string): string {
  return path.isAbsolute(name) ? name : path.join(path.dirname(file), name);
}

/** Tests that a config has under `tests:`. */
export function readConfigTests(text: string, file: string): TestFile {
  const source = readVerbatim(text, file);
  const { tests } = source.value as { readonly tests?: unknown }; // any value has properties
  if (!source.isYaml)
    return { file, text, tests: [], bodyFiles: [], problems: locate(source.errors, source) };
  if (tests === undefined || (Array.isArray(tests) && tests.length === 0))
    return { file, text, tests: [], bodyFiles: [], problems: [] };
  const errors = source.errors.filter(({ path: [root] }) => root === 'tests');
  return readSource({ ...source, value: { tests }, errors }, text);
}

const check = compileCheck(TestFileSchema, { useDefaults: true });

function readSource(source: Source, text: string): TestFile {
  const { value, errors, isValid } = checkSourceBy(source.isYaml ? check : () => [], source);
  const found: SchemaError[] = [...source.errors, ...errors];
  const { tests: raw, defaults } = value as Partial<RawTestFile>; // each part is used only if it is valid
  const valid = Array.isArray(raw) ? raw : [];
  const defaultsOfAll = isValid(['defaults']) ? (defaults ?? {}) : {};
  const bodies = new BodyFiles(path.dirname(source.file));
  const reading: Reading = {
    defaults: defaultsOfAll.request ?? {},
    readBody: (file) => bodies.read(file),
    complain: (problem) => void found.push(problem),
  };
  const tests = valid.flatMap((test: RawTest, at) =>
    isValid(['tests', at])
      ? [readTest(withDefaults(defaultsOfAll, test), ['tests', at], source, reading)]
      : [],
  );
  found.push(...duplicateNames(valid, source));
  return { file: source.file, text, tests, bodyFiles: bodies.names, problems: locate(found, source) };
}

/** Settings of a test over those of its file: maps are joined, other values replaced. */
function withDefaults(
  { request: _, ...defaults }: NonNullable<RawTestFile['defaults']>,
  test: RawTest,
): RawTest {
  return {
    ...defaults,
    ...test,
    env: { ...defaults.env, ...test.env },
    slots: { ...defaults.slots, ...test.slots },
    ...((defaults.remotes ?? test.remotes) && { remotes: { ...defaults.remotes, ...test.remotes } }),
    keys: { ...defaults.keys, ...test.keys },
    teams: { ...defaults.teams, ...test.teams },
  };
}

function readTest(raw: RawTest, at: Path, source: Source, reading: Reading): ConfigTest {
  const { env = {}, slots = {}, keys = {}, teams = {}, remotes, clock, start } = raw;
  complainOfReserved(Object.keys(keys), [...at, 'keys'], reading);
  complainOfTeams({ keys, teams }, [...at, 'keys'], reading);
  return {
    name: raw.name,
    path: at,
    at: source.positionOf(at),
    positionOf: (place) => source.positionOf(place),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    settings: {
      slots: readSlots(slots, [...at, 'slots'], reading.complain),
      keys,
      teams,
      ...(remotes && { remotes }),
      ...(clock !== undefined && { startMs: timeMs(clock) }),
      ...(start !== undefined && { startsStages: start }),
    },
    steps: readSteps(raw.requests, [...at, 'requests'], reading),
    isOnly: raw.only === true,
    ...(raw.skip !== undefined && { skip: raw.skip }),
  };
}

/** Names of callers without a configurable key. */
const reservedNames = new Set(['master', 'nobody']);

function complainOfReserved(names: readonly string[], at: Path, { complain }: Reading): void {
  for (const name of names.filter((one) => reservedNames.has(one)))
    complain({
      path: [...at, name],
      message: `cannot have terms, as "${name}" is not a key; give it another name`,
    });
}

/** Reports keys of an unknown team. */
function complainOfTeams(
  { keys = {}, teams = {} }: Pick<RawTest, 'keys' | 'teams'>,
  at: Path,
  { complain }: Reading,
): void {
  for (const [name, { team }] of Object.entries(keys)) {
    if (team === undefined || Object.hasOwn(teams, team)) continue;
    const meant = didYouMean(team, Object.keys(teams));
    const cure = meant === undefined ? `add it to "teams"` : `did you mean "${meant}"?`;
    complain({ path: [...at, name, 'team'], message: `names an unknown team; ${cure}` });
  }
}

function duplicateNames(tests: readonly unknown[], source: Source): readonly SchemaError[] {
  const first = new Map<unknown, number>();
  return tests.flatMap((test, at) => {
    const name = isRecord(test) ? test['name'] : undefined;
    const other = first.get(name);
    if (other === undefined) first.set(name, at);
    if (name === undefined || other === undefined) return [];
    const { line } = source.positionOf(['tests', other]);
    return [
      {
        path: ['tests', at, 'name'],
        message: `is also the name of the test at line ${line}; give it another`,
      },
    ];
  });
}

/** Max bytes of a file that `bodyFile` names. */
const maxBodyBytes = 32 * 2 ** 20;

/** JSON files in a folder or beside it, each of which is read once. */
class BodyFiles {
  readonly #folder: string;
  readonly #known = new Map<string, unknown>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  get names(): readonly string[] {
    return [...this.#known.keys()];
  }

  read(file: string): unknown {
    const full = path.resolve(this.#folder, file);
    if (!this.#known.has(full)) this.#known.set(full, readJson(full, file));
    return this.#known.get(full);
  }
}

function readJson(full: string, name: string): unknown {
  const bytes = readBytes(full, name);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch (error) {
    throw new Error(`names ${name}, which is not JSON`, { cause: error });
  }
}

function readBytes(full: string, name: string): Buffer {
  try {
    if (statSync(full).size <= maxBodyBytes) return readFileSync(full);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // nothing else is thrown here
    throw new Error(`names ${name}, which cannot be read (${code})`, { cause: error });
  }
  throw new Error(`names ${name}, which is larger than 32 MB`);
}

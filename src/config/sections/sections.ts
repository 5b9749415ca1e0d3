import type { Static } from 'typebox';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { listen } from './listen.js';
import { live } from './live.js';
import { console, panel } from './panel.js';
import { section, setting, type Section, type SettingContext } from './section.js';
import { audit, ledger, store } from './state.js';
import { log, telemetry } from './telemetry.js';

const reload = section(
  {
    watch: setting(
      Type.Boolean({ default: false }),
      `Reloads a changed config without a signal: the file, the catalog, secrets of \${file:...} and files
        of tls: are checked every 5 s, following links, and reloaded once two checks agree. A refused config is logged,
        as with SIGHUP.`,
    ),
  },
  { needsRestart: true },
);

const officialClient = section(
  {
    userAgent: setting(
      Type.String({ default: '' }),
      'A regular expression for user-agent. Empty: no client.',
    ),
  },
  {
    description: 'Clients whose usage is not masked.',
    errors: patternErrors,
  },
);

/** All parts of a config that are not lists of entries, in the order of the reference config. */
export const sections = {
  listen,
  store,
  ledger,
  audit,
  live,
  telemetry,
  log,
  reload,
  panel,
  console,
  officialClient,
};

type Sections = typeof sections;
type SectionName = keyof Sections;
type RawSections = { readonly [Name in SectionName]: Static<Sections[Name]['schema']> };

/** Sections of the checked config. */
export type SettledSections = { readonly [Name in SectionName]: ReturnType<Sections[Name]['settle']> };

/** The schemas of all sections. */
export const sectionSchemas = mapSections(({ schema }) => schema) as {
  readonly [Name in SectionName]: Sections[Name]['schema'];
}; // each its own

/** Errors by the rules of the sections that are valid. */
export function sectionErrors(
  raw: RawSections,
  context: SettingContext,
  isValid: (path: readonly string[]) => boolean,
): readonly SchemaError[] {
  const errors = mapSections(({ errors: errorsOf }, name) =>
    isValid([name]) ? errorsOf(raw[name], context) : [],
  );
  return Object.values(errors).flat();
}

/** The checked sections; `raw` has passed `sectionErrors`. */
export function settleSections(raw: RawSections, context: SettingContext): SettledSections {
  return mapSections(({ settle }, name) => settle(raw[name], context)) as SettledSections; // each its own
}

/** Results of a function on each section, by its name. */
export function mapSections<Result>(
  map: (section: Section, name: SectionName) => Result,
): Readonly<Record<SectionName, Result>> {
  const names = Object.keys(sections) as SectionName[]; // it has no other keys
  return Object.fromEntries(names.map((name) => [name, map(sections[name], name)])) as Record<
    SectionName,
    Result
  >;
}

function patternErrors({ userAgent }: { readonly userAgent: string }): readonly SchemaError[] {
  try {
    return RegExp(userAgent) && [];
  } catch (error) {
    const message = `must be a regular expression: ${error instanceof Error ? error.message : String(error)}`;
    return [{ path: ['officialClient', 'userAgent'], message }];
  }
}

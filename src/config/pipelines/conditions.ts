import type { Operation } from '../../plugin/index.js';
import { credentialNames } from '../../kit/credential-names.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { percentOf } from '../../kit/schema/units.js';
import type { Conditions, When } from '../config.js';
import type { Path } from '../document.js';
import type { RawStage } from '../stage-schema.js';

export type RawWhen = NonNullable<RawStage['when']>;

type RawConditions = Omit<RawWhen, 'not'>;

/** Conditions of an entry or a pipeline, in base units and with lists for single words. */
export function toWhen({ not, ...raw }: RawWhen): When {
  return { ...toConditions(raw), ...(not && { not: toConditions(not) }) };
}

function toConditions({
  format,
  model,
  operation,
  caller,
  team,
  claim,
  path,
  header,
  stream,
  sample,
}: RawConditions): Conditions {
  return {
    ...(format && { format: [format].flat() }),
    ...(model && { model: [model].flat() }),
    ...(operation && { operation: [operation].flat() as readonly Operation[] }),
    ...(caller && { caller: [caller].flat() }),
    ...(team && { team: [team].flat() }),
    ...(claim && { claim: listsOf(claim) }),
    ...(path && { path: [path].flat() }),
    ...(header && { header: lowerCased(header) }),
    ...(stream !== undefined && { stream }),
    ...(sample !== undefined && { sample: percentOf(sample) }),
  };
}

type Lists = Readonly<Record<string, readonly string[]>>;

function listsOf(globs: NonNullable<RawConditions['header']>): Lists {
  return Object.fromEntries(Object.entries(globs).map(([name, texts]) => [name, [texts].flat()]));
}

function lowerCased(header: NonNullable<RawConditions['header']>): Lists {
  return Object.fromEntries(
    Object.entries(listsOf(header)).map(([name, globs]) => [name.toLowerCase(), globs]),
  );
}

/** Headers that conditions cannot use: those invalid in HTTP, and those with secret values. */
export function headerErrors(when: RawWhen | undefined, path: Path): readonly SchemaError[] {
  const places = [
    { header: when?.header, within: ['when', 'header'] },
    { header: when?.not?.header, within: ['when', 'not', 'header'] },
  ];
  return places.flatMap(({ header = {}, within }) =>
    Object.keys(header).flatMap((name) => {
      const message = headerError(name);
      return message ? [{ path: [...path, ...within, name], message }] : [];
    }),
  );
}

function headerError(name: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is not the name of a header';
  if (!credentialNames.has(name.toLowerCase())) return undefined;
  return 'is a header whose value is a secret; identify the caller by "caller" instead';
}

/** Conditions of a pipeline that are not known when pipelines are chosen. */
export function lateConditions(when: RawWhen | undefined, path: Path): readonly SchemaError[] {
  const places = [
    { conditions: when, within: ['when'] },
    { conditions: when?.not, within: ['when', 'not'] },
  ];
  return places.flatMap(({ conditions = {}, within }) =>
    late.flatMap((name) =>
      conditions[name] === undefined ? [] : [{ path: [...path, ...within, name], message: lateMessage }],
    ),
  );
}

const late = ['model', 'stream', 'sample'] as const;

const lateMessage =
  'is not known yet when a pipeline is chosen; write it as the "when" of an entry, and choose the pipeline by caller, team, claim, format, operation, path or header';

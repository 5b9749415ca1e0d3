import { editorSchema } from '../../../config/editor-schema.js';
import { ConfigSchema } from '../../../config/schema.js';
import { isRecord } from '../../../kit/schema/record.js';
import type { KindName, ListedPlugin } from './listed-plugins.js';

type Schema = Readonly<Record<string, unknown>>;

type Described = Pick<ListedPlugin, 'kind' | 'use' | 'options'>;

/**
 * JSON Schema (draft 7) of the config with the options of these plugins, for editors. `tests`: definitions,
 * of which `test` is that of an entry under `tests:`.
 */
export function configSchema(plugins: readonly Described[], tests: Schema): Schema {
  const base = editorSchema({ ...ConfigSchema });
  const withOptions = (options: Schema): Schema => ({
    properties: { with: options },
    ...(options['required'] !== undefined && { required: ['with'] }),
  });
  const named = (kind: KindName, key: string, then = withOptions): Schema => {
    const ofKind = plugins.filter((plugin) => plugin.kind === kind);
    return {
      properties: { [key]: { anyOf: [{ enum: ofKind.map(({ use }) => use) }, { type: 'string' }] } },
      allOf: ofKind.map(({ use, options }) => ({
        if: { properties: { [key]: { const: use } }, required: [key] },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: then(editorSchema(options)),
      })),
    };
  };
  const stage = { $ref: '#/definitions/stage' };
  const entry = { allOf: [stage], properties: { oneOf: { items: { allOf: [stage] } } } };
  const change = { properties: { add: { items: entry }, by: entry } };
  const pipelines = { items: { allOf: [{ properties: { changes: { items: change } } }] } };
  const account = { allOf: [named('account', 'kind', closedWithKind)] };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'gw2api config',
    ...merged(base, {
      properties: {
        pipeline: { items: entry },
        pipelines,
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        formats: { items: { allOf: [{ if: { type: 'object' }, then: named('format', 'use') }] } },
        tests: { items: { $ref: '#/definitions/test' } },
        slots: { items: { allOf: [named('upstream', 'upstream')], properties: { account } } },
      },
    }),
    definitions: { stage: named('stage', 'use'), ...tests },
  };
}

/** Schema of an account's options beside its `kind` and its `integrity`. */
function closedWithKind({ properties, ...options }: Schema): Schema {
  return { ...options, properties: { kind: true, integrity: true, ...(isRecord(properties) && properties) } };
}

/** Two schemas as one: objects key by key, of all else the second. */
function merged(one: Schema, other: Schema): Schema {
  const keys = Object.keys(other).map((key) => {
    const [before, after] = [one[key], other[key]];
    return [key, isRecord(before) && isRecord(after) ? merged(before, after) : after];
  });
  return { ...one, ...(Object.fromEntries(keys) as Schema) };
}

import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { loadGatewayConfigFile } from '#src/gateway/load-config.js';
import { CatalogSchema, ConfigSchema } from '#src/config/schema.js';
import { loadStages } from '#src/engine/pipeline/load/load-stages.js';
import { loadBuiltins, loadPlugin } from '#src/engine/pipeline/load/load-plugin.js';
import { builtinFolder, builtinNames } from '#src/engine/pipeline/load/import/resolve.js';
import { accountKind } from '#src/engine/pipeline/load/slot-kinds.js';
import { stageKind } from '#src/engine/pipeline/load/stage-kind.js';

describe('the config that ships', () => {
  for (const file of ['config/gateway.yaml', 'config/gateway.reference.yaml'])
    it(`${file} works with nothing set up`, async () => {
      const config = await loadGatewayConfigFile(file, {});
      const { problems } = await loadStages(config.pipeline, {
        baseDir: config.baseDir,
        builtins: builtinFolder,
      });
      expect(problems).to.deep.equal([]);
    });

  it('answers without an account of anybody', async () => {
    const { slots } = await loadGatewayConfigFile('config/gateway.yaml', {});
    expect(slots.map(({ upstream, account }) => [upstream, account?.kind])).to.deep.equal([
      ['simulator', undefined],
    ]);
  });

  it('takes the body limit from GW_MAX_BODY', async () => {
    const { pipeline } = await loadGatewayConfigFile('config/gateway.yaml', { GW_MAX_BODY: '1mb' });
    expect(pipeline.find(({ use }) => use === 'body-limit')?.with).to.deep.equal({ limit: '1mb' });
  });
});

describe('the reference config', () => {
  const reference = 'config/gateway.reference.yaml';

  it('has every key there is, and no other', async () => {
    const text = await readFile(reference, 'utf8');
    const [, tls = ''] = /^ +# (tls: \{.*\})$/m.exec(text) ?? []; // its files are nobody's here
    const [, hash = ''] = /^ +# (integrity: .*)$/m.exec(text) ?? []; // built-ins take none
    const pinned = { ...parse(hash), account: parse(hash) };
    const servers = [...text.matchAll(/^# (live: \{.*\})$/gm)].map(([, live]) => parse(live!).live);
    const { slots, ...config } = parse(text);
    const live = Object.assign({}, ...servers); // its servers are nobody's here
    const written = keysOf({ ...config, live, slots: [...slots, parse(tls), pinned] });
    const accounts = await loadBuiltins(accountKind, { baseDir: '.', builtins: builtinFolder });
    const keys = accounts.flatMap(({ options }) =>
      keysOfSchema(options).map((key) => `slots[].account.${key}`),
    );
    expect(without(written, optionsAndHeaders)).to.deep.equal(
      without([...new Set([...keysOfSchema(ConfigSchema), ...keys])].toSorted(), optionsAndHeaders),
    );
  });

  it('has every built-in with every option, and no other', async () => {
    const config = await loadGatewayConfigFile(reference, {});
    for (const name of await builtinNames(builtinFolder)) {
      const plugin = await loadPlugin(stageKind, name, { baseDir: '.', builtins: builtinFolder });
      const stage = config.pipeline.find(({ use }) => use === name);
      expect(stage, `a stage of ${name}`).not.to.equal(undefined);
      expect(without(keysOf(stage!.with), optionsAndHeaders), `the options of ${name}`).to.deep.equal(
        keysOfSchema(plugin.options),
      );
    }
  });

  it('gives the defaults of the options', async () => {
    const config = await loadGatewayConfigFile(reference, {});
    const { stages } = await loadStages(
      config.pipeline
        .filter(({ use }) => !use.startsWith('.'))
        .map((stage) => ({ ...stage, enabled: true, with: {} })),
      { baseDir: config.baseDir, builtins: builtinFolder },
    );
    for (const { config: written, options } of stages) {
      const stage = config.pipeline.find(({ use }) => use === written.use)!;
      expect(stage.with, `the options of ${stage.use}`).to.deep.include(options);
    }
  });
});

describe('the catalog that ships', () => {
  it('shows every key there is', async () => {
    const text = await readFile('config/models.yaml', 'utf8');
    const [, price = ''] = /^# +price: (\{.*\})$/m.exec(text) ?? []; // none is shipped
    const written = keysOf({ models: [...parse(text).models, { price: parse(price) }] });
    expect(written).to.deep.equal(keysOfSchema(CatalogSchema));
  });
});

/**
 * What a schema does not name: options are their plugin's, headers and names of models the upstream's; alternatives
 * have the keys of stages, and a format may be its name alone. An option in place of another one stands in a comment.
 */
const optionsAndHeaders =
  /^pipeline\[\]\.with\.|^pipeline\[\]\.oneOf\[\]\.|^pipelines\[\]\.changes\[\]\.(add\[\]|by|when|with)\.|^pipelines\[\]\.when\.(not\.)?(model|stream|sample)$|^formats\[\]\.|\.(header|claim)\.|^slots\[\]\.(headers|models|price|with)\.|\.account\.profile$|^to\./;

function without(keys: readonly string[], pattern: RegExp): readonly string[] {
  return keys.filter((key) => !pattern.test(key));
}

/** The paths of all keys in a value, list items being one: `slots[].account.kind`. */
function keysOf(value: unknown, path = ''): readonly string[] {
  return sorted(collect(value, path));
}

function collect(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => collect(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).map(([key, part]) => ({ path: join(path, key), part }));
  return [...inner.map(({ path }) => path), ...inner.flatMap(({ part, path }) => collect(part, path))];
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  readonly then?: Schema;
}

function keysOfSchema(schema: object): readonly string[] {
  return sorted(collectSchema(schema, ''));
}

function collectSchema(
  { properties = {}, items, oneOf = [], then }: Schema,
  path: string,
): readonly string[] {
  const inner = Object.entries(properties).map(([key, part]) => ({ path: join(path, key), part }));
  return [
    ...inner.map(({ path }) => path),
    ...inner.flatMap(({ part, path }) => collectSchema(part, path)),
    ...(items ? collectSchema(items, `${path}[]`) : []),
    ...oneOf.flatMap((branch) => collectSchema(branch, path)),
    ...(then ? collectSchema(then, path) : []),
  ];
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function sorted(keys: readonly string[]): readonly string[] {
  return [...new Set(keys)].toSorted();
}

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'chai';
import { parse } from 'yaml';
import { docs } from '#src/cli/docs.js';
import { TempFolders } from '../whole/temp-folders.js';

type Schema = Readonly<Record<string, unknown>> & { readonly required?: readonly string[] };

/** Compiled schemas, each of which takes a second. */
const validators = new WeakMap<Schema, ValidateFunction>();

function validatorOf(schema: Schema): ValidateFunction {
  const known = validators.get(schema);
  if (known) return known;
  const made = new Ajv({ allErrors: true, strictTypes: false }).compile(schema);
  validators.set(schema, made);
  return made;
}

/** Errors of a config by a schema, as `path message`. */
function errorsBy(schema: Schema, text: string): readonly string[] {
  const validate = validatorOf(schema);
  validate(parse(text));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('the schema of the config for editors', () => {
  let schema: Schema;
  const folders = new TempFolders();
  before(
    async () => void (schema = JSON.parse((await docs('config/gateway.yaml', {}, true)).text) as Schema),
  );
  after(() => folders.remove());

  it('is made by each build, and is not kept in git', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
      scripts: Readonly<Record<string, string>>;
    };
    expect(scripts['build']).to.include('npm run --silent build:schema');
    expect(scripts['prepack']).to.equal('npm run build');
    for (const file of ['config/gateway.schema.json', 'config/test.schema.json']) {
      expect(scripts['build:schema']).to.include(`> ${file}`);
      expect(await readFile('.gitignore', 'utf8')).to.include(`\n/${file}\n`);
    }
  });

  for (const file of ['config/gateway.yaml', 'config/gateway.reference.yaml'])
    it(`is named in the first line of ${file}, and takes it`, async () => {
      const text = await readFile(file, 'utf8');
      expect(text.split('\n')[0]).to.equal('# yaml-language-server: $schema=./gateway.schema.json');
      expect(errorsBy(schema, text)).to.deep.equal([]);
    });

  const guides = readdirSync('config').filter((file) => file.endsWith('.md'));
  for (const file of [
    'README.md',
    ...guides.map((name) => `config/${name}`),
    'plugins/README.md',
    'plugins/stages.md',
  ])
    it(`takes the examples of ${file}`, async () => {
      const blocks = [...(await readFile(file, 'utf8')).matchAll(/```yaml\n([^]*?)```/g)];
      const { required: _, ...partial } = schema;
      const examples = blocks.filter(([, text]) => /^(?:pipeline|slots|listen|store|formats):/m.test(text!));
      for (const [, text] of examples) expect(errorsBy(partial, text!), text).to.deep.equal([]);
    });

  const slots = 'slots: [{ id: a, upstream: simulator }]';
  const wrongs: readonly (readonly [text: string, place: string])[] = [
    [`pipeline: [{ use: auth }]\n${slots}\nlistn: {}`, ' must NOT have additional'],
    [
      `pipeline: [{ use: max-tokens, with: { cpa: 1 } }]\n${slots}`,
      '/pipeline/0/with must NOT have additional',
    ],
    [`pipeline: [{ use: max-tokens, with: { cap: x } }]\n${slots}`, '/pipeline/0/with/cap must be integer'],
    [
      `pipeline: [{ oneOf: [{ use: max-tokens, with: { cap: x } }] }]\n${slots}`,
      '/pipeline/0/oneOf/0/with/cap must be integer',
    ],
    [
      'pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: messages, account: { kind: api-key } }]',
      "/slots/0/account must have required property 'key'",
    ],
    [`pipeline: [{ use: auth }]\n${slots}\nlisten: { drainDelay: 5 }`, '/listen/drainDelay must be string'],
  ];
  for (const [text, place] of wrongs)
    it(`refuses ${place.trim()}`, () => {
      expect(errorsBy(schema, text).join('\n')).to.include(place);
    });

  it('takes a variable in place of any value', () => {
    const text = `pipeline: [{ use: max-tokens, enabled: "\${ON}", with: { cap: "\${CAP}" } }]\n${slots}\nlisten: { port: "\${PORT:-1}", drainDelay: "\${D}" }`;
    expect(errorsBy(schema, text)).to.deep.equal([]);
  });

  it('describes keys and options by the words of their schemas', () => {
    const { properties, definitions } = schema as unknown as {
      properties: { listen: { properties: { headersTimeout: object } } };
      definitions: { stage: { allOf: readonly object[] } };
    };
    const { headersTimeout } = properties.listen.properties;
    expect(headersTimeout).to.have.property('description').that.includes('beyond it: 408');
    expect(JSON.stringify(definitions.stage.allOf)).to.include('The largest body in bytes');
  });

  it('has the options of the plugins that a config loads, and `docs` their tables', async () => {
    const folder = await folders.make({
      'mine.mjs': `export default {
        name: 'mine',
        options: { type: 'object', required: ['colour'], properties: {
          colour: { type: 'string', enum: ['red', 'blue'], description: 'Of the answer.' },
          deep: { type: 'object', properties: { level: { type: 'integer', default: 3 } } },
        } },
        setup: () => (ctx, next) => next(),
      };`,
      'gateway.yaml':
        'pipeline: [{ use: ./mine.mjs, with: { colour: red } }]\nslots: [{ id: a, upstream: simulator }]',
    });
    const file = `${folder}/gateway.yaml`;
    const own = JSON.parse((await docs(file, {}, true)).text) as Schema;
    const config = (options: string) => `pipeline: [{ use: ./mine.mjs${options} }]\n${slots}`;
    expect(errorsBy(own, config(', with: { colour: red, deep: { level: 1 } }'))).to.deep.equal([]);
    expect(errorsBy(own, config(', with: { colour: green }')).join()).to.include('/pipeline/0/with/colour');
    expect(errorsBy(own, config('')).join()).to.include("must have required property 'with'");
    const { text, exitCode } = await docs(file, {}, false);
    expect(exitCode).to.equal(0);
    expect(text).to.include('## stage mine\n\n`./mine.mjs`\n\n');
    expect(text).to.include('| `colour` | `"red"` \\| `"blue"` | required | Of the answer. |');
    expect(text).to.include('| `deep.level` | integer | `3` |  |');
  });
});

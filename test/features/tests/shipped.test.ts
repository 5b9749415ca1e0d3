import { readdir, readFile } from 'node:fs/promises';
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'chai';
import { parse } from 'yaml';
import { testSchema } from '#src/features/tests/verb/command.js';
import { ProcessWorkshop } from '../../whole/gateway-process.js';

/** The schema for editors, which takes a second to compile. */
let compiled: ValidateFunction | undefined;

/** Errors of a file of tests by the schema for editors. */
function errorsIn(text: string): readonly string[] {
  const schema = JSON.parse(testSchema()) as object;
  const validate = (compiled ??= new Ajv({ allErrors: true, strictTypes: false }).compile(schema));
  validate(parse(text, { merge: true }));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('the tests of the shipped configs', () => {
  const workshop = new ProcessWorkshop();
  after(() => workshop.end());

  for (const config of ['gateway.yaml', 'gateway.reference.yaml'])
    it(`of ${config} pass`, async () => {
      const args = ['test', '--ci', '--config', `config/${config}`];
      const { stdout, stderr, code } = await workshop.run({ cwd: process.cwd(), args });
      expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/^[1-9]\d* passed/m);
    });

  it('cover every optional stage, in a config of its own whose tests pass', async () => {
    const reference = parse(await readFile('config/gateway.reference.yaml', 'utf8')) as {
      readonly pipeline: readonly { readonly use: string; readonly enabled?: boolean }[];
    };
    const off = reference.pipeline.filter(({ use, enabled }) => enabled === false && !use.startsWith('.'));
    const files = (await readdir('config/examples')).filter((name) => name.endsWith('.yaml'));
    expect(files).to.have.members(off.map(({ use }) => `${use}.yaml`));
    for (const file of files) {
      const args = ['test', '--ci', '--config', `config/examples/${file}`];
      const { stdout, stderr, code } = await workshop.run({ cwd: process.cwd(), args });
      expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/^[1-9]\d* passed/m);
      const { pipeline } = parse(await readFile(`config/examples/${file}`, 'utf8')) as typeof reference;
      expect(pipeline.map(({ use }) => `${use}.yaml`)).to.include(file);
    }
  });
});

describe('the schema of tests for editors', () => {
  const workshop = new ProcessWorkshop();
  after(() => workshop.end());

  it('is what `test --schema` prints, for `npm run build:schema`', async () => {
    const { stdout, code } = await workshop.run({ args: ['test', '--schema'] });
    expect([code, stdout === testSchema()]).to.deep.equal([0, true]);
  });

  for (const file of ['gateway.test.yaml', 'gateway.reference.test.yaml'])
    it(`is named in the first line of ${file}, and takes it`, async () => {
      const text = await readFile(`config/${file}`, 'utf8');
      expect(text.split('\n')[0]).to.equal('# yaml-language-server: $schema=./test.schema.json');
      expect(errorsIn(text)).to.deep.equal([]);
    });

  it('refuses keys and matchers that there are not, and times without a unit', () => {
    const wrong = (request: string) => errorsIn(`tests: [{ name: a, requests: [${request}] }]`).join('\n');
    expect(wrong('{ get: /a, expect: { status: 200 } }')).to.equal('');
    expect(wrong('{ get: /a, expct: {} }')).to.include('/tests/0/requests/0 must NOT have additional');
    expect(wrong('{ get: /a, expect: { staus: 200 } }')).to.include('/expect must NOT have additional');
    expect(wrong('{ get: /a, expect: { text: { macthes: x } } }')).to.include('/expect/text must NOT have');
    expect(wrong('{ get: /a, after: 5 }')).to.include('/after must be string');
    expect(wrong('{ get: /a, expect: { events.0.data.x: 1, answer: snapshot } }')).to.equal('');
  });
});

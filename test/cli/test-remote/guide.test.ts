import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { remoteChecks } from '#src/cli/test-remote/run-checks.js';
import { questionSchema, replyFault, replySchema, type RemotePhase } from '#src/plugin/remote/index.js';
import { configOf, stages } from '../../whole/harness.js';
import { ProcessWorkshop } from '../../whole/gateway-process.js';

interface Branch {
  readonly properties: Readonly<Record<string, { readonly const?: unknown }>>;
}

describe('config/remote.md', () => {
  const guide = readFileSync('config/remote.md', 'utf8');

  /** Rows of the table whose head is this line, cell by cell. */
  function rowsUnder(head: string): readonly (readonly string[])[] {
    const table = guide.slice(guide.indexOf(`\n${head}\n`) + 1).split('\n\n', 1)[0]!;
    const cells = (row: string) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim());
    return table.split('\n').slice(2).map(cells);
  }

  const namesIn = (cell: string) => [...cell.matchAll(/`([a-z_A-Z]+)`/g)].map(([, name]) => name!);
  const branches = ({ anyOf }: typeof questionSchema) => anyOf as readonly Branch[];

  it('has every field of a question, and in which phases it comes', () => {
    const rows = rowsUnder('| in | field | |');
    const told = (phase: string) =>
      rows.flatMap(([where = '', field = '']) =>
        /^(?:all|same)$/.test(where) || where.includes(phase) ? namesIn(field) : [],
      );
    for (const { properties } of branches(questionSchema))
      expect(told(String(properties['phase']!.const))).to.have.members(Object.keys(properties));
  });

  it('has every verdict with its phases and fields', () => {
    const rows = rowsUnder('| verdict | in | with | |');
    const always = new Set(['version', 'verdict', 'state', 'tags']);
    const known = branches(replySchema).map(({ properties }) => [
      String(properties['verdict']!.const),
      Object.keys(properties)
        .filter((name) => !always.has(name))
        .toSorted(),
    ]);
    const told = rows.map(([verdict = '', , fields = '']) => [
      namesIn(verdict)[0],
      namesIn(fields).toSorted(),
    ]);
    expect(told).to.have.deep.members(known);
    for (const phase of ['request', 'answer', 'events'] as const satisfies readonly RemotePhase[]) {
      const allowed = /one of (.*)$/.exec(replyFault(phase, { version: 1, verdict: '' })!)![1]!.split(', ');
      const verdicts = rows.filter(([, where = '']) => where === 'all' || where.includes(phase));
      expect(new Set(verdicts.map(([verdict = '']) => namesIn(verdict)[0]))).to.deep.equal(new Set(allowed));
    }
  });

  it('has every check of test-remote, in its order', () => {
    const rows = rowsUnder('| check | a correct server |');
    expect(rows).to.deep.equal(remoteChecks.map(({ name, rule }) => [`\`${name}\``, rule]));
  });

  it('shows an entry that a config can list', async () => {
    const [, text] = /```yaml\n([^]*?)```/.exec(guide)!;
    const { pipeline } = parse(text!) as { readonly pipeline: readonly object[] };
    const workshop = new ProcessWorkshop();
    const all = [...stages().slice(0, 3), ...pipeline, ...stages().slice(3)];
    const config = configOf({ pipeline: all, slots: [{ id: 'a', upstream: 'simulator' }] });
    const cwd = await workshop.folder({ 'gateway.yaml': config });
    const env = { DLP_SECRET: 'whsec_c2VjcmV0' };
    const { code, stderr } = await workshop.run({ cwd, env, args: ['check', '--config', 'gateway.yaml'] });
    await workshop.end();
    expect([code, stderr]).to.deep.equal([0, '']);
  });
});

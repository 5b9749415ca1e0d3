import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import type { Config, ConfigError, PipelineConfig } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';

const slots = 'slots: [{ id: a, upstream: simulator }]\n';

const stages = `pipeline:
  - use: auth
  - use: body-limit
  - { use: max-tokens, with: { cap: 100, deep: { a: 1, b: 2 } }, timeout: 1s }
  - { use: web-search-tool, locked: true }
  - name: choice
    oneOf:
      - { use: ./one.js, when: { stream: true } }
      - use: ./two.js
  - oneOf: [{ use: ./three.js }]
  - { use: guard, name: twin-a }
  - { use: guard, name: twin-b }
`;

function load(pipelines: string, env: Record<string, string> = {}): Config {
  return loadConfig({ text: `${stages}${pipelines}\n${slots}`, file: 'gateway.yaml', env });
}

function problemsOf(pipelines: string): readonly string[] {
  try {
    load(pipelines);
    return [];
  } catch (error) {
    return (error as ConfigError).message.split('\n');
  }
}

const named = (changes: string) => `pipelines:\n  - name: red\n    changes:\n      - ${changes}`;

/** Entries in short: their marks and the names of their stages. */
function shortly({ entries }: PipelineConfig): readonly string[] {
  const marks = { same: '', added: '+', changed: '~', removed: '-' };
  return entries.map(
    ({ mark, stages: each }) => `${marks[mark]}${each.map(({ name, use }) => name ?? use).join('|')}`,
  );
}

const only = (changes: string) => load(named(changes)).pipelines[0]!;

describe('readPipelines', () => {
  it('reads a config without pipelines as one with none', () => {
    expect(load('').pipelines).to.deep.equal([]);
  });

  it('shares the entries that a pipeline leaves alone', () => {
    const { pipeline, pipelines } = load('pipelines: [{ name: red }]');
    expect(pipelines[0]!.stages).to.have.lengthOf(pipeline.length);
    for (const [at, stage] of pipelines[0]!.stages.entries()) expect(stage).to.equal(pipeline[at]);
    expect(pipelines[0]).to.include({
      name: 'red',
      parent: 'default',
      when: undefined,
      path: 'pipelines[0]',
    });
  });

  it('puts entries above and below another one', () => {
    const above = only('{ before: max-tokens, add: [{ use: ./x.js }, { use: ./y.js }] }');
    expect(shortly(above).slice(1, 5)).to.deep.equal(['body-limit', '+./x.js', '+./y.js', 'max-tokens']);
    expect(above.changes).to.deep.equal([
      { path: 'pipelines[0].changes[0]', at: { file: 'gateway.yaml', line: 16, column: 9 }, place: 2 },
    ]);
    expect(above.stages[2]).to.include({ pipeline: 'red', path: 'pipelines[0].changes[0].add[0]' });
    const below = only('{ after: max-tokens, add: [{ oneOf: [{ use: ./x.js }] }] }');
    expect(shortly(below).slice(2, 5)).to.deep.equal(['max-tokens', '+./x.js', 'web-search-tool']);
    expect(below.stages[3]!.group!.path).to.equal('pipelines[0].changes[0].add[0]');
  });

  it('replaces an entry, and alternatives by their name', () => {
    const { stages: list, entries } = only('{ replace: choice, by: { use: ./x.js, with: { a: 1 } } }');
    expect(list.map(({ use }) => use))
      .to.include('./x.js')
      .and.not.to.include('./one.js');
    expect(entries[4]!.mark).to.equal('changed');
    expect(list[4]).to.deep.include({ with: { a: 1 }, pipeline: 'red', path: 'pipelines[0].changes[0].by' });
  });

  it('merges options object by object, and sets what else is given', () => {
    const { stages: list, entries } = only(
      '{ set: max-tokens, with: { cap: 5, deep: { b: 3 } }, enabled: false, when: { team: red }, onError: skip }',
    );
    expect(entries[2]!.mark).to.equal('changed');
    expect(list[2]).to.deep.include({
      use: 'max-tokens',
      with: { cap: 5, deep: { a: 1, b: 3 } },
      written: { cap: 5, deep: { a: 1, b: 3 } },
      enabled: false,
      when: { team: ['red'] },
      timeoutMs: 1000,
      skipsErrors: true,
    });
    expect(list[2]!.positionOf(['with', 'cap'])).to.include({ line: 16 });
    expect(list[2]!.positionOf(['with', 'deep', 'a'])).to.include({ line: 4 });
  });

  it('isolates a stage, in another way than the entry does, or no more', () => {
    const isolationOf = (isolate: string, before = '') => {
      const entry = `{ before: max-tokens, add: [{ use: ./x.js${before} }] }`;
      return only(`${entry}\n      - { set: ./x.js, isolate: ${isolate} }`).stages[2]!.isolation;
    };
    const usual = { memoryBytes: 256 * 2 ** 20, stallMs: 1000, env: [], read: [], wrap: [] };
    expect(isolationOf('true')).to.deep.equal(usual);
    expect(isolationOf('{ stall: 2s, read: [./data] }', ', isolate: { memory: 99mb }')).to.deep.equal({
      ...usual,
      stallMs: 2000,
      read: ['./data'],
    });
    expect(isolationOf('false', ', isolate: true')).to.equal(undefined);
    const kept = only(
      '{ before: auth, add: [{ use: ./x.js, isolate: true }] }\n      - { set: ./x.js, timeout: 1s }',
    );
    expect(kept.stages[0]!.isolation).to.deep.equal(usual);
    expect(problemsOf(named('{ set: max-tokens, isolate: { memory: none } }'))).to.have.lengthOf(1);
    expect(problemsOf(named('{ remove: max-tokens, isolate: true }'))).to.deep.equal([
      'gateway.yaml:16:31 pipelines[0].changes[0].isolate: has no meaning beside "remove"',
    ]);
  });

  it('keeps the place of an entry that is removed, without its stages', () => {
    const red = only('{ remove: max-tokens }');
    expect(shortly(red).slice(1, 4)).to.deep.equal(['body-limit', '-max-tokens', 'web-search-tool']);
    expect(red.stages.map(({ use }) => use)).not.to.include('max-tokens');
  });

  it('applies each change to the list as it then stands', () => {
    const red = load(`pipelines:
  - name: red
    changes:
      - { before: max-tokens, add: [{ use: ./x.js, name: mine }] }
      - { set: mine, with: { a: 1 } }
      - { after: mine, add: [{ use: ./y.js }] }
      - { remove: ./y.js }
      - { remove: body-limit }
`).pipelines[0]!;
    expect(shortly(red).slice(0, 4)).to.deep.equal(['auth', '-body-limit', '+mine', 'max-tokens']);
    expect(red.stages[1]!.with).to.deep.equal({ a: 1 });
    expect(red.changes.map(({ place }) => place)).to.deep.equal([2, 2, 3, 3, 1]);
  });

  it('extends a pipeline above, whose own entries keep their owner', () => {
    const [red, blue] = load(`pipelines:
  - { name: red, changes: [{ remove: body-limit }, { before: max-tokens, add: [{ use: ./x.js }] }] }
  - { name: blue, extends: red, changes: [{ set: ./x.js, with: { a: 1 } }] }
`).pipelines;
    expect(shortly(blue!).slice(0, 3)).to.deep.equal(['auth', '~./x.js', 'max-tokens']);
    expect(red!.stages[1]!.pipeline).to.equal('red');
    expect(blue!.stages[1]!.pipeline).to.equal('blue');
    expect(blue!.stages[2]).to.equal(red!.stages[2]);
  });

  it('reads conditions of a pipeline', () => {
    const text = `pipelines:
  - name: red
    when: { team: red, claim: { groups: [a, b] }, path: /chat/*, header: { X-Team: r }, not: { caller: c } }
`;
    expect(load(text).pipelines[0]!.when).to.deep.equal({
      team: ['red'],
      claim: { groups: ['a', 'b'] },
      path: ['/chat/*'],
      header: { 'x-team': ['r'] },
      not: { caller: ['c'] },
    });
  });

  it('does not mind variables of an added entry that is switched off', () => {
    const add = '{ before: max-tokens, add: [{ use: y, enabled: false, with: { a: "${NOT_SET}" } }] }';
    expect(only(add).stages[2]!.enabled).to.equal(false);
  });
});

describe('a config with pipelines that cannot be', () => {
  const cases: readonly (readonly [wrong: string, pipelines: string, says: readonly string[]])[] = [
    [
      'an entry that there is not',
      named('{ remove: max-token }'),
      [
        'gateway.yaml:16:11 pipelines[0].changes[0].remove: is not the name of an entry of this pipeline; did you mean "max-tokens"?',
      ],
    ],
    [
      'an alternative',
      named('{ remove: ./three.js }'),
      [
        'gateway.yaml:16:11 pipelines[0].changes[0].remove: is an alternative of the entry at line 10; give its "oneOf" a name, and replace it as a whole',
      ],
    ],
    [
      'an entry that is gone',
      'pipelines: [{ name: red, changes: [{ remove: auth }, { remove: auth }] }]',
      [
        'gateway.yaml:13:56 pipelines[0].changes[1].remove: is no longer in this pipeline: a change above removes it',
      ],
    ],
    [
      'a name of two entries',
      'pipelines: [{ name: red, changes: [{ before: auth, add: [{ use: ./x.js }, { use: ./x.js }] }, { remove: ./x.js }] }]',
      [
        'gateway.yaml:13:97 pipelines[0].changes[1].remove: fits 2 entries, at line 13 and line 13; give them different names',
      ],
    ],
    [
      'a locked entry',
      named('{ set: web-search-tool, with: { a: 1 } }'),
      [
        'gateway.yaml:16:11 pipelines[0].changes[0].set: is locked by its "locked: true" at line 5; leave it as it is',
      ],
    ],
    [
      'settings of alternatives',
      named('{ set: choice, enabled: false }'),
      [
        'gateway.yaml:16:11 pipelines[0].changes[0].set: is a "oneOf", which has no settings of its own; replace it',
      ],
    ],
    [
      'keys of several kinds',
      named('{ set: auth, remove: auth }'),
      [
        'gateway.yaml:16:9 pipelines[0].changes[0]: needs exactly one of before, after, replace, set, remove, which names an entry',
      ],
    ],
    [
      'a key that its kind does not take',
      named('{ remove: auth, with: { a: 1 } }'),
      ['gateway.yaml:16:25 pipelines[0].changes[0].with: has no meaning beside "remove"'],
    ],
    [
      'nothing to add',
      named('{ before: auth }'),
      ['gateway.yaml:16:9 pipelines[0].changes[0]: needs add beside "before"'],
    ],
    [
      'conditions that are not known yet',
      'pipelines: [{ name: red, when: { model: x, not: { sample: 1% } } }]',
      [
        'gateway.yaml:13:34 pipelines[0].when.model: is not known yet when a pipeline is chosen; write it as the "when" of an entry, and choose the pipeline by caller, team, claim, format, operation, path or header',
        'gateway.yaml:13:51 pipelines[0].when.not.sample: is not known yet when a pipeline is chosen; write it as the "when" of an entry, and choose the pipeline by caller, team, claim, format, operation, path or header',
      ],
    ],
    [
      'names that are taken, and a parent below',
      'pipelines: [{ name: default }, { name: a, extends: b }, { name: b }, { name: b }]',
      [
        'gateway.yaml:13:15 pipelines[0].name: "default" names `pipeline:` itself; take another name',
        'gateway.yaml:13:43 pipelines[1].extends: "b" is no pipeline above this one; known: default',
        'gateway.yaml:13:72 pipelines[3].name: "b" already names pipelines[2]; take another name',
      ],
    ],
    [
      'a name that an entry of the list has',
      named('{ before: max-tokens, add: [{ use: ./x.js, name: twin-a }] }'),
      [
        'gateway.yaml:11:19 pipeline[6].name: is also the name of pipelines[0].changes[0].add[0] at line 16; give one of them another name (in the pipeline "red")',
      ],
    ],
    [
      'a file that is not there',
      'pipelines: [./teams/red.yaml]',
      ['gateway.yaml:13:13 pipelines[0]: names teams/red.yaml, which cannot be read'],
    ],
  ];
  for (const [wrong, pipelines, says] of cases)
    it(`says what is wrong with ${wrong}`, () => {
      expect(problemsOf(pipelines)).to.deep.equal(says);
    });

  it('refuses any other value, and never crashes', () => {
    const changes = [
      '{ before: auth, add: x }',
      '{ before: auth, add: [null, 5] }',
      '{ set: max-tokens, timeout: soon }',
      '{ set: max-tokens, when: 5 }',
      '{ replace: auth, by: 5 }',
      '{ after: 5, add: [{ use: x }] }',
      'null',
      '5',
    ];
    const lists = changes.map((change) => `[{ name: a, changes: [${change}, { remove: auth }] }]`);
    for (const text of ['[null]', '[5]', '5', '[{ name: 5 }]', '[{ name: a, changes: 5 }]', ...lists]) {
      const said = problemsOf(`pipelines: ${text}`);
      expect(said, text).not.to.deep.equal([]);
      for (const line of said) expect(line, text).to.match(/^gateway\.yaml:\d+:\d+ pipelines/);
    }
  });

  it('has at most 200 pipelines of 100 changes', () => {
    const many = Array.from({ length: 201 }, (_, at) => `{ name: p${at} }`).join(', ');
    expect(problemsOf(`pipelines: [${many}]`)[0]).to.include('must have at most 200 item(s)');
    const changes = Array.from({ length: 101 }, () => '{ set: auth, enabled: true }').join(', ');
    expect(problemsOf(`pipelines: [{ name: a, changes: [${changes}] }]`)[0]).to.include(
      'must have at most 100 item(s)',
    );
  });
});

describe('a pipeline in a file of its own', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'gw-pipelines-'));
    await mkdir(path.join(folder, 'teams'));
    await writeFile(path.join(folder, 'teams/secret.txt'), 'hush\n');
  });
  after(() => rm(folder, { recursive: true }));

  const loadWith = async (text: string) => {
    await writeFile(path.join(folder, 'teams/red.yaml'), text);
    return loadConfig({
      text: `${stages}pipelines: [./teams/red.yaml]\n${slots}`,
      file: path.join(folder, 'gateway.yaml'),
      env: {},
    });
  };

  it('starts its paths in its folder', async () => {
    const { pipelines } = await loadWith(
      'name: red\nchanges:\n  - { before: max-tokens, add: [{ use: ./dlp.js, with: { key: "${file:secret.txt}" } }] }\ntests: [./red.test.yaml]\n',
    );
    const [red] = pipelines;
    expect(red!.tests).to.deep.equal([path.join(folder, 'teams/red.test.yaml')]);
    expect(red!.stages[2]).to.deep.include({
      baseDir: path.join(folder, 'teams'),
      with: { key: 'hush' },
      path: 'pipelines[0].changes[0].add[0]',
      at: { file: path.join(folder, 'teams/red.yaml'), line: 3, column: 33 },
    });
  });

  it('starts the paths of an isolation in its folder, those of the config as they are', async () => {
    const { pipelines } = await loadWith(
      'name: red\nchanges:\n  - { set: max-tokens, isolate: { read: [./data] } }\n  - { before: auth, add: [{ use: ./x.js }] }\n  - { set: ./x.js, isolate: { read: [./own] } }\n',
    );
    const reads = pipelines[0]!.stages.flatMap(({ isolation }) => isolation?.read ?? []);
    expect(reads).to.deep.equal(['./own', path.join(folder, 'teams/data')]);
  });

  it('tells its problems at their lines in it', async () => {
    const text = 'name: red\nchange: []\nchanges:\n  - { remove: nothing }\n';
    const error = await loadWith(text).then(
      () => undefined,
      (thrown: unknown) => thrown as ConfigError,
    );
    const file = path.join(folder, 'teams/red.yaml');
    expect(error?.message.split('\n')).to.deep.equal([
      `${file}:2:1 pipelines[0].change: is not a known key; did you mean "changes"?`,
      `${file}:4:7 pipelines[0].changes[0].remove: is not the name of an entry of this pipeline; known: auth, body-limit, max-tokens, web-search-tool, choice, twin-a, twin-b`,
    ]);
  });
});

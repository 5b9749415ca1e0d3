import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { formatProblem } from '#src/config/config.js';
import type { ConfigTest } from '#src/features/tests/config-test.js';
import { readConfigTests, readTestFile } from '#src/features/tests/read-tests.js';
import { TempFolders } from '../../whole/temp-folders.js';

function testsOf(text: string): readonly ConfigTest[] {
  const { tests, problems } = readTestFile(text, 'a.test.yaml');
  expect(problems.map(formatProblem)).to.deep.equal([]);
  return tests;
}

function problemsOf(text: string): readonly string[] {
  return readTestFile(text, 'a.test.yaml').problems.map(formatProblem);
}

/** Requests of the first test, as they are sent. */
function sentBy(requests: string, head = ''): readonly object[] {
  const [test] = testsOf(`${head}\ntests: [{ name: a, requests: ${requests} }]`);
  return test!.steps.flatMap((step) => step.requests.map(({ send }) => send));
}

describe('a file of tests', () => {
  const folders = new TempFolders();
  after(() => folders.remove());

  it('says how scenarios of a slot are written', () => {
    const slots = 'slots: { a: [text, late], b: text, c: 429 }';
    expect(problemsOf(`tests: [{ name: a, ${slots}, requests: [{ get: / }] }]`)).to.deep.equal([
      'a.test.yaml:1:29 tests[0].slots.a: must be an object, not an array; write `{ scenario: [ … ] }`',
      'a.test.yaml:1:46 tests[0].slots.b: must be an object, not a string; write `{ scenario: "text" }`',
      'a.test.yaml:1:55 tests[0].slots.c: must be an object, not a number; write `{ status: 429 }`',
    ]);
  });

  it('says what is sent, by whom, and what happens before', () => {
    const [test] = testsOf(`
config: ./my.yaml
tests:
  - name: one
    env: { A: 1, B: x }
    slots: { a: { scenario: [text, late ms=5] }, b: { status: 429, retryAfter: 2 } }
    keys: { ann: { models: [haiku-5], requestsPerMinute: 3, team: support } }
    teams: { support: { usdPerDay: 1 } }
    clock: 2026-11-22T10:00:00Z
    start: true
    requests:
      - post: /v1/messages
        as: { key: ann, headers: { x-a: '1' } }
        headers: { x-b: '2' }
        body: { stop: null }
      - { after: 61m, get: /v1/models, as: nobody, slots: { a: { status: 529 } }, leave: { after: 2s, afterEvents: 3 } }
      - { method: delete, path: /v1/x }
`);
    expect(test).to.deep.include({
      env: { A: '1', B: 'x' },
      settings: {
        slots: { a: ['text', 'late ms=5'], b: ['429 retry-after=2'] },
        keys: { ann: { models: ['haiku-5'], requestsPerMinute: 3, team: 'support' } },
        teams: { support: { usdPerDay: 1 } },
        startMs: Date.UTC(2026, 10, 22, 10),
        startsStages: true,
      },
    });
    const [one, two, three] = test!.steps;
    expect(one!.requests[0]!.send).to.deep.equal({
      method: 'POST',
      path: '/v1/messages',
      headers: { 'x-a': '1', 'x-b': '2' },
      body: { stop: null },
      key: 'ann',
    });
    expect(two).to.deep.include({ afterMs: 61 * 60_000, slots: { a: ['529'] } });
    const leave = { afterEvents: 3, afterMs: 2000 };
    expect(two!.requests[0]!.send).to.deep.equal({ method: 'GET', path: '/v1/models', key: null, leave });
    expect(three!.requests[0]!.send).to.deep.equal({ method: 'DELETE', path: '/v1/x' });
  });

  it('repeats the last request with "same", under the keys beside it', () => {
    const sent = sentBy(
      '[{ post: /a, as: x, body: 1, leave: { afterEvents: 1 } }, { same: true, as: y }, { same: true, get: /b }]',
    );
    expect(sent.slice(1)).to.deep.equal([
      { method: 'POST', path: '/a', body: 1, key: 'y' },
      { method: 'GET', path: '/b', body: 1, key: 'y' },
    ]);
  });

  it('repeats it by another method, and at another path', () => {
    expect(sentBy('[{ path: /a, method: put, body: 1 }, { same: true, method: patch }]')[1]).to.deep.equal({
      method: 'PATCH',
      path: '/a',
      body: 1,
    });
    expect(sentBy('[{ post: /a, body: 1 }, { same: true, method: put }]')[1]).to.deep.equal({
      method: 'PUT',
      path: '/a',
      body: 1,
    });
    const paths =
      '[{ path: /a, method: put }, { same: true, path: /b }, { same: true, get: /c }, { same: true }]';
    expect(sentBy(paths).slice(1)).to.deep.equal([
      { method: 'PUT', path: '/b' },
      { method: 'GET', path: '/c' },
      { method: 'GET', path: '/c' },
    ]);
  });

  it('sends requests of "together" in one step', () => {
    const [test] = testsOf(
      'tests: [{ name: a, requests: [{ after: 1s, together: [{ get: /a }, { same: true }] }] }]',
    );
    expect(test!.steps).to.have.lengthOf(1);
    expect(test!.steps[0]!.requests.map(({ send }) => send.path)).to.deep.equal(['/a', '/a']);
  });

  it('has defaults for every test and every request', () => {
    const head =
      'defaults: { env: { A: x, B: y }, clock: 2026-01-01, request: { post: /a, body: 1, as: x } }';
    const [test] = testsOf(
      `${head}\ntests: [{ name: a, env: { A: z }, requests: [{ body: 2 }, { get: /b }] }]`,
    );
    expect(test!.env).to.deep.equal({ A: 'z', B: 'y' });
    expect(test!.settings.startMs).to.equal(Date.UTC(2026, 0, 1));
    expect(test!.steps.map(({ requests }) => requests[0]!.send)).to.deep.equal([
      { method: 'POST', path: '/a', body: 2, key: 'x' },
      { method: 'GET', path: '/b', body: 1, key: 'x' },
    ]);
  });

  it('takes a body from a JSON file beside it', async () => {
    const folder = await folders.make({ 'hi.json': { model: 'm' }, 'bad.json': '{' });
    const text =
      'tests: [{ name: a, requests: [{ post: /a, bodyFile: hi.json }, { post: /a, bodyFile: bad.json }, { post: /a, bodyFile: no.json }] }]';
    await writeFile(`${folder}/a.test.yaml`, text);
    const { tests, problems } = readTestFile(text, `${folder}/a.test.yaml`);
    expect(tests[0]!.steps[0]!.requests[0]!.send.body).to.deep.equal({ model: 'm' });
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).to.deep.equal([
      'tests[0].requests[1].bodyFile: names bad.json, which is not JSON',
      'tests[0].requests[2].bodyFile: names no.json, which cannot be read (ENOENT)',
    ]);
  });

  it('is read as it is written: no variable is replaced', () => {
    expect(sentBy('[{ post: /a, body: "${HOME} $${x}" }]')[0]).to.include({ body: '${HOME} $${x}' });
  });

  it('shares requests by anchors, with the place of each expectation', () => {
    const text =
      'tests:\n  - { name: a, requests: [&a { post: /a, expect: { staus: 1 } }] }\n  - { name: b, requests: [{ <<: *a, body: 1 }] }';
    expect(problemsOf(text)[0]).to.match(/^a\.test\.yaml:2:52 tests\[0\]\.requests\[0\]\.expect\.staus: /);
  });

  it('tells everything that is wrong at once, each with its place', () => {
    const text = `config: 5
tests:
  - name: a
    requets: []
  - name: b
    slots: { a: { scenaro: text } }
    requests: [{ post: v1, expect: { staus: 1 } }]
  - name: c
    only: yes please
    requests:
      - { expect: { text: { macthes: x } } }
      - { same: true, post: /a, get: /b, after: 5 }
  - name: c
    clock: soon
    requests: [{ get: /a, slots: { a: { scenario: text, status: 500 }, b: { scenario: text, retryAfter: 1 } } }]
  - name: c
    requests: [{ same: true, leave: {} }, { together: [{ get: /a }], expect: {} }]
  - name: d
    requests: [{ same: true, post: /a }, { together: [{ get: /a }], expect: {} }]
`;
    expect(problemsOf(text).map((line) => line.replace('a.test.yaml:', ''))).to.deep.equal([
      '1:1 config: must be a string, not a number; write it in quotes',
      '3:5 tests[0].requests: is required',
      '4:5 tests[0].requets: is not a known key; did you mean "requests"?',
      '6:19 tests[1].slots.a.scenaro: is not a known key; did you mean "scenario"?',
      '9:5 tests[2].only: must be true or false, not a string',
      '12:42 tests[2].requests[1].after: must be a duration such as "500ms", "30s" or "1h", not 5',
      '14:5 tests[3].clock: must be a time such as 2026-01-01T12:00:00Z, or unix milliseconds, not "soon"',
      '17:30 tests[4].requests[0].leave: must have at least 1 key(s)',
      '19:18 tests[5].requests[0].same: has no request before it to repeat',
      '19:69 tests[5].requests[1].expect: has no meaning beside "together"; write it in each of its requests',
      '13:5 tests[3].name: is also the name of the test at line 8; give it another',
      '16:5 tests[4].name: is also the name of the test at line 8; give it another',
    ]);
  });

  it('refuses terms of callers that have no key', () => {
    const text = 'tests: [{ name: a, keys: { master: {}, small: {} }, requests: [{ get: /a }] }]';
    expect(problemsOf(text)).to.deep.equal([
      'a.test.yaml:1:28 tests[0].keys.master: cannot have terms, as "master" is not a key; give it another name',
    ]);
  });

  it('names its config beside it, or by an absolute path', () => {
    const configOf = (name: string) => readTestFile(`config: ${name}`, 'some/a.test.yaml').config;
    expect(configOf('../my.yaml')).to.equal('my.yaml');
    expect(configOf('/etc/my.yaml')).to.equal('/etc/my.yaml');
  });

  const wrongs: readonly (readonly [request: string, problem: string])[] = [
    ['{ body: 1 }', ' has no path'],
    [
      '{ together: [{ get: /a, expect: { upstream.model: x } }, { get: /a }] }',
      '.together[0].expect.upstream.model: cannot be expected of concurrent requests',
    ],
    ['{ post: /a, get: /b }', ' gives its path in more than one way'],
    ['{ method: PUT, post: /a }', ' gives its path in more than one way'],
    ['{ post: v1 }', ' has the path "v1", which must start with /'],
    ['{ post: /a, body: 1, bodyFile: x.json }', '.bodyFile: stands beside "body"'],
    ['{ get: /a, slots: { a: { scenario: [] } } }', '.slots.a.scenario: must have at least 1 item(s)'],
    ['{ post: /a, expect: yes }', '.expect: must be an object such as { status: 200 }'],
    ['{ post: /a, expect: { staus: snapshot } }', '.expect.staus: is not a known key'],
    [
      '{ get: /a, slots: { a: { scenario: text, status: 500 } } }',
      '.slots.a: has both "scenario" and "status"',
    ],
    [
      '{ get: /a, slots: { a: { scenario: text, retryAfter: 1 } } }',
      '.slots.a.retryAfter: is allowed only beside "status"',
    ],
  ];
  for (const [request, problem] of wrongs)
    it(`refuses ${request}`, () => {
      expect(problemsOf(`tests: [{ name: a, requests: [${request}] }]`).join('\n')).to.include(
        `tests[0].requests[0]${problem.startsWith(' ') ? ':' : ''}${problem}`,
      );
    });

  it('is refused as a whole where it is not YAML', () => {
    expect(problemsOf('tests: [')).to.have.lengthOf(1);
  });
});

describe('tests in a config', () => {
  it('are read with their places; the rest of the config is not theirs', () => {
    const text = 'pipelin: "${NOWHERE}"\ntests:\n  - name: a\n    requests: [{ get: /a }]\n    skp: x\n';
    const { tests, problems } = readConfigTests(text, 'gateway.yaml');
    expect(tests).to.deep.equal([]);
    expect(problems.map(formatProblem)).to.deep.equal([
      'gateway.yaml:5:5 tests[0].skp: is not a known key; did you mean "skip"?',
    ]);
  });

  it('are none in a config that has none', () => {
    for (const text of ['pipeline: []', 'tests: []'])
      expect(readConfigTests(text, 'gateway.yaml')).to.deep.include({ tests: [], problems: [] });
  });
});

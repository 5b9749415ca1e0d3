import { expect } from 'chai';
import { jsonProblems, jsonReport, junitReport } from '#src/features/tests/verb/machine-reports.js';
import type { TestReport } from '#src/features/tests/report.js';
import { textReport } from '#src/features/tests/verb/text-report.js';

const file = 'a&b.test.yaml';

/** A report with one test of each kind, whose texts are hostile to terminals and to XML. */
const report: TestReport = {
  results: [
    { name: 'passes', at: { file, line: 2, column: 5 }, status: 'passed', durationMs: 12, failures: [] },
    {
      name: 'fails <"&\u001B[31m\u0000\uD800\u{1F600}]]>',
      at: { file, line: 9, column: 5 },
      status: 'failed',
      durationMs: 345,
      failures: [
        {
          at: { file, line: 11, column: 7 },
          place: 'tests[1].requests[0].expect.status',
          value: { path: 'status', expected: 200, isRule: false, actual: 401 },
          message: 'missing_api_key: Send a key.',
        },
        {
          at: { file, line: 12, column: 7 },
          place: 'tests[1].requests[0].expect.text.matches',
          value: { path: 'text', expected: { matches: 'a b' }, isRule: true, actual: undefined },
        },
        {
          at: { file, line: 13, column: 7 },
          place: 'tests[1].requests[0].expect.dropped',
          value: { path: 'dropped', expected: ['a'], isRule: false, actual: ['b<'] },
        },
        { at: { file, line: 9, column: 5 }, place: 'tests[1]', message: 'could not be run: it broke' },
      ],
    },
    {
      name: 'waits',
      at: { file: 'c.test.yaml', line: 1, column: 1 },
      status: 'skipped',
      reason: 'not yet',
      durationMs: 0,
      failures: [],
    },
  ],
  leftOut: 2,
  written: 0,
  warnings: ['placeholders are used for secrets missing in the environment: A'],
  durationMs: 357.4,
};

/** Text of the elements of an XML document; fails where it is not well-formed. */
function texts(xml: string): readonly string[] {
  const open: string[] = [];
  const found: string[] = [];
  const body = xml.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  const token = /<(\/?)(\w+)((?: \w+="[^<"]*")*)(\/?)>|[^<]+/gy;
  let end = 0;
  for (const match of body.matchAll(token)) {
    const [whole, close, name, , empty] = match;
    end += whole.length;
    expect(whole).to.not.match(/&(?!(?:amp|lt|gt|quot);)/);
    if (name === undefined) found.push(whole);
    else if (close) expect(open.pop()).to.equal(name);
    else if (!empty) open.push(name);
  }
  expect(end, body.slice(end, end + 80)).to.equal(body.length);
  expect(open).to.deep.equal([]);
  return found;
}

describe('the report for people', () => {
  it('has each test, each failure with its place, and a summary', () => {
    expect(textReport(report, false)).to.equal(`a&b.test.yaml
  ✓ passes
  ✗ fails <"&\\u{1b}[31m\\u{0}\uD800\u{1F600}]]> (345 ms)

c.test.yaml
  - waits (skipped: not yet)

1) fails <"&\\u{1b}[31m\\u{0}\uD800\u{1F600}]]>
   a&b.test.yaml:11:7 tests[1].requests[0].expect.status
     in status
     expected  200
     got       401
     missing_api_key: Send a key.
   a&b.test.yaml:12:7 tests[1].requests[0].expect.text.matches
     in text
     expected  matches "a b"
     got       (absent)
   a&b.test.yaml:13:7 tests[1].requests[0].expect.dropped
     in dropped
     - expected  + got
       [
     -   "a"
     +   "b<"
       ]
   a&b.test.yaml:9:5 tests[1]
     could not be run: it broke

1 passed, 1 failed, 1 skipped, 2 left out, as another test has "only" in 357 ms
warning: placeholders are used for secrets missing in the environment: A
`);
  });

  it('is coloured where it is asked to be, and says the same', () => {
    const coloured = textReport(report, true);
    expect(coloured).to.include('\u001B[32m✓\u001B[39m passes');
    // oxlint-disable-next-line no-control-regex -- what colours are made of
    expect(coloured.replaceAll(/\u001B\[\d+m/g, '')).to.equal(textReport(report, false));
  });
});

describe('the report in the XML of JUnit', () => {
  it('is well-formed, whatever the texts hold', () => {
    const xml = junitReport(report);
    // oxlint-disable-next-line no-control-regex -- characters that XML cannot hold
    expect(xml).to.not.match(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/);
    expect(xml).to.equal(Buffer.from(xml).toString());
    expect(texts(xml).join('')).to.include('+   &quot;b&lt;&quot;');
  });

  it('has a suite for each file, with counts, places and reasons', () => {
    const xml = junitReport(report);
    expect(xml).to.include('<testsuites name="gw2api" tests="3" failures="1" time="0.357">');
    expect(xml).to.include(
      '<testsuite name="a&amp;b.test.yaml" tests="2" failures="1" errors="0" skipped="0" time="0.357">',
    );
    expect(xml).to.include('<skipped message="not yet"/>');
    expect(xml).to.include('message="status: expected 200, got 401; missing_api_key: Send a key."');
  });
});

describe('the report as JSON', () => {
  it('has counts and all failures, with what was expected and what came', () => {
    const parsed = JSON.parse(jsonReport(report)) as {
      readonly tests: readonly { readonly failures: object[] }[];
    };
    expect(parsed).to.deep.include({ passed: 1, failed: 1, skipped: 1, leftOut: 2, problems: [] });
    const [status, text, dropped] = parsed.tests[1]!.failures;
    expect(status).to.deep.include({ file, line: 11, column: 7, path: 'status', expected: 200, actual: 401 });
    expect(text)
      .to.deep.include({ expected: { matches: 'a b' } })
      .and.to.not.have.property('actual');
    expect(dropped).to.have.deep.property('difference', ['  [', '-   "a"', '+   "b<"', '  ]']);
  });

  it('has the problems of tests that are refused, in the same form', () => {
    const at = { file, line: 3, column: 4 };
    const parsed = JSON.parse(
      jsonProblems([{ at, path: 'tests[0].skp', message: 'is not a known key' }]),
    ) as object;
    expect(parsed).to.have.all.keys(Object.keys(JSON.parse(jsonReport(report)) as object));
    expect(parsed).to.have.deep.property('problems', [
      { ...at, path: 'tests[0].skp', message: 'is not a known key' },
    ]);
  });
});

import { writeFile } from 'node:fs/promises';
import { isCollection, isScalar, parseDocument, stringify, visit, type Document, type Scalar } from 'yaml';
import { ConfigError, type ConfigProblem } from '../../../config/config.js';
import { writePath, type Path } from '../../../config/document.js';
import type { DryOutcome } from '../../dry-run/outcome.js';
import type { AskedRequest, SnapshotPlace } from '../config-test.js';
import { isTestFile, type FoundTests } from '../find-tests.js';
import { runTest, type OpenEngine } from '../run-test.js';
import type { FinishedTest, FinishedTests } from '../run-tests.js';
import { snapshotOf, matchesOutcome } from '../snapshot.js';

/** A value that a file of tests gets at a path. */
interface Recorded {
  readonly place: SnapshotPlace;
  readonly value: unknown;
}

/**
 * Writes expected values for `snapshot` in tests of `*.test.yaml`; returns their number. Runs each such test a second
 * time to find the stable parts; throws a ConfigError for values that cannot be written.
 */
export async function writeSnapshots({ files, runs }: FinishedTests, open: OpenEngine): Promise<number> {
  let count = 0;
  const problems: ConfigProblem[] = [];
  for (const file of files.filter((one) => isTestFile(one.file))) {
    const found: Recorded[] = [];
    for (const finished of runs.filter((run) => run.file === file))
      found.push(...(await recordedIn(finished, open, problems)));
    const text = withValues(file, found, problems);
    if (text !== file.text) await writeFile(file.file, text);
    count += found.length;
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return count;
}

/** Clock of the second run of a test without a time: far enough from the first that no time is the same. */
const laterMs = 37 * 3_600_000 + 123_456;

async function recordedIn(
  { test, config, run }: FinishedTest,
  open: OpenEngine,
  problems: ConfigProblem[],
): Promise<readonly Recorded[]> {
  const places = test.steps.flatMap(({ requests }) =>
    requests.flatMap((request) => request.snapshots.map((place) => ({ request, place }))),
  );
  if (places.length === 0 || !config || !run) return [];
  const startMs = test.settings.startMs ?? Date.now() + laterMs;
  const again = await runTest({ ...test, settings: { ...test.settings, startMs } }, config, open);
  return places.flatMap(({ request, place }) => {
    const value = recordedValue(request, place, run.outcomes, again.outcomes);
    if (value !== undefined) return [{ place, value }];
    const message = 'has no value that is the same in two runs; write an expectation in place of "snapshot"';
    problems.push({ at: test.positionOf(place.at), path: writePath(place.at), message });
    return [];
  });
}

type Outcomes = ReadonlyMap<AskedRequest, DryOutcome>;

function recordedValue(
  request: AskedRequest,
  place: SnapshotPlace,
  first: Outcomes,
  second: Outcomes,
): unknown {
  const [one, other] = [first.get(request), second.get(request)];
  const value = one && other ? snapshotOf(place, one, other) : undefined;
  return one && value !== undefined && matchesOutcome(value, place, one) ? value : undefined;
}

/** The text of a file with values instead of the words; the rest is unchanged, comments and blank lines too. */
function withValues(
  { file, text }: FoundTests,
  found: readonly Recorded[],
  problems: ConfigProblem[],
): string {
  const document = parseDocument(text);
  const edits = found.flatMap(({ place, value }) => {
    const node = scalarAt(document, place.at);
    if (node?.range)
      return [{ range: node.range, value, key: String(place.at.at(-1)), isFlow: isInFlow(document, node) }];
    const message =
      'is read through an alias, into which no value can be written; replace the alias by its value';
    problems.push({ at: { file, line: 1, column: 1 }, path: writePath(place.at), message });
    return [];
  });
  return edits
    .toSorted((a, b) => b.range[0] - a.range[0])
    .reduce((edited, { range: [start, end], value, key, isFlow }) => {
      if (isFlow) return edited.slice(0, start) + inFlow(value) + edited.slice(end);
      return withBlock(edited, start, end, { key, value });
    }, text);
}

function scalarAt(document: Document, path: Path): Scalar | undefined {
  const node = document.getIn(path, true);
  return isScalar(node) ? node : undefined;
}

function isInFlow(document: Document, node: Scalar): boolean {
  let isFlow = false;
  visit(document, {
    Scalar(_, scalar, parents) {
      if (scalar !== node) return undefined;
      isFlow = parents.some((parent) => isCollection(parent) && parent.flow === true);
      return visit.BREAK;
    },
  });
  return isFlow;
}

function inFlow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
}

/** Replaces the scalar of `key: scalar` by a value in block style; a comment after it stays on its line. */
function withBlock(
  text: string,
  start: number,
  end: number,
  { key, value }: { key: string; value: unknown },
): string {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end);
  const head = text.slice(lineStart, start);
  const indent = ' '.repeat(/^[ -]*/.exec(head)?.[0].length ?? 0);
  const whole = stringify({ [key]: value }, { lineWidth: 0 }).trimEnd();
  const [first = '', ...rest] = whole.slice(whole.indexOf(':') + 1).split('\n');
  const comment = text.slice(end, lineEnd).trimEnd();
  const lines = rest.map((line) => (line === '' ? '' : `${indent}${line}`));
  const block = [`${head.trimEnd()}${first}${comment}`, ...lines].join('\n');
  return text.slice(0, lineStart) + block + text.slice(lineEnd);
}

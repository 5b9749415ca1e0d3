import type { ConfigProblem } from '../../../config/config.js';
import { differenceOf, inOneLine } from './difference.js';
import { countOf, type TestFailure, type TestReport, type TestResult } from '../report.js';

/** A report as JSON, for programs. Absent values have no `actual`. */
export function jsonReport(report: TestReport): string {
  const { results, leftOut, written, warnings, durationMs } = report;
  const body = {
    passed: countOf(report, 'passed'),
    failed: countOf(report, 'failed'),
    skipped: countOf(report, 'skipped'),
    leftOut,
    written,
    durationMs: Math.round(durationMs),
    warnings,
    problems: [],
    tests: results.map(jsonResult),
  };
  return `${JSON.stringify(body, null, 2)}\n`;
}

/** Problems of tests or of their config as JSON, in the form of a report. */
export function jsonProblems(problems: readonly ConfigProblem[]): string {
  const shown = problems.map(({ at, path, subject, pipeline, message }) => ({
    ...at,
    path,
    ...(subject !== undefined && { subject }),
    ...(pipeline !== undefined && { pipeline }),
    message,
  }));
  const none = { passed: 0, failed: 0, skipped: 0, leftOut: 0, written: 0, durationMs: 0, warnings: [] };
  return `${JSON.stringify({ ...none, problems: shown, tests: [] }, null, 2)}\n`;
}

function jsonResult({ name, at, status, reason, durationMs, failures, pipeline }: TestResult): object {
  return {
    name,
    ...at,
    ...(pipeline !== undefined && { pipeline }),
    status,
    ...(reason !== undefined && { reason }),
    durationMs: Math.round(durationMs),
    failures: failures.map(jsonFailure),
  };
}

function jsonFailure({ at, place, message, value }: TestFailure): object {
  const difference = value && !value.isRule ? differenceOf(value.expected, value.actual) : undefined;
  return {
    ...at,
    place,
    ...(message !== undefined && { message }),
    ...(value && { path: value.path, expected: value.expected, actual: value.actual }),
    ...(difference && { difference }),
  };
}

/** A report in the XML of JUnit: one suite a file. */
export function junitReport(report: TestReport): string {
  const files = [...new Set(report.results.map(({ at }) => at.file))];
  const suites = files.map((file) =>
    suite(
      file,
      report.results.filter(({ at }) => at.file === file),
    ),
  );
  const attributes = `tests="${report.results.length}" failures="${countOf(report, 'failed')}" time="${seconds(report.durationMs)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="gw2api" ${attributes}>\n${suites.join('')}</testsuites>\n`;
}

function suite(file: string, results: readonly TestResult[]): string {
  const count = (status: TestResult['status']) => results.filter((result) => result.status === status).length;
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const head = `tests="${results.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}" time="${time}"`;
  return `  <testsuite name="${escaped(file)}" ${head}>\n${results.map(testCase).join('')}  </testsuite>\n`;
}

function testCase({ name, at, reason, durationMs, failures }: TestResult): string {
  const head = `    <testcase classname="${escaped(at.file)}" name="${escaped(name)}" file="${escaped(at.file)}" line="${at.line}" time="${seconds(durationMs)}"`;
  const skip = reason === undefined ? '' : `      <skipped message="${escaped(reason)}"/>\n`;
  const inner = `${skip}${failures.map(failureElement).join('')}`;
  return inner === '' ? `${head}/>\n` : `${head}>\n${inner}    </testcase>\n`;
}

function failureElement({ at, place, message, value }: TestFailure): string {
  const sides = value ? `expected ${inOneLine(value.expected)}, got ${inOneLine(value.actual)}` : '';
  const words = [sides, message].filter(Boolean).join('; ');
  const difference = value && !value.isRule ? differenceOf(value.expected, value.actual) : undefined;
  const text = [`${at.file}:${at.line}:${at.column} ${place}`, words, ...(difference ?? [])].join('\n');
  return `      <failure message="${escaped(`${value?.path ?? place}: ${words}`)}">${escaped(text)}</failure>\n`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text within XML 1.0, which cannot hold most control characters, nor half of a surrogate pair. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}

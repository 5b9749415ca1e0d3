import { differenceOf, inOneLine } from './difference.js';
import { countOf, type TestFailure, type TestReport, type TestResult } from '../report.js';
import { painter, printable, type Paint } from '../../../kit/terminal.js';

/** A report as a person reads it in a terminal, in colour where `hasColour`. */
export function textReport(report: TestReport, hasColour: boolean): string {
  const paint = painter(hasColour);
  const lines: string[] = [];
  let file: string | undefined;
  for (const result of report.results) {
    if (result.at.file !== file) lines.push('', result.at.file);
    file = result.at.file;
    lines.push(resultLine(result, paint));
  }
  const failed = report.results.filter(({ status }) => status === 'failed');
  const details = failed.flatMap((result, at) => failureLines(result, at + 1, paint));
  const { written } = report;
  const news = written > 0 ? [`${written} expected ${written === 1 ? 'value' : 'values'} written`] : [];
  const warnings = report.warnings.map((warning) => paint('yellow', `warning: ${warning}`));
  const all = [...lines, '', ...details, summary(report, paint), ...news, ...warnings];
  return `${all.join('\n').trimStart()}\n`;
}

/** Min duration for which a test's time is shown. */
const slowMs = 100;

function resultLine({ name, status, reason, durationMs }: TestResult, paint: Paint): string {
  const shown = printable(name);
  if (status === 'skipped') return `  ${paint('yellow', `- ${shown} (skipped: ${printable(reason ?? '')})`)}`;
  const time = durationMs >= slowMs ? paint('gray', ` (${Math.round(durationMs)} ms)`) : '';
  return status === 'passed'
    ? `  ${paint('green', '✓')} ${shown}${time}`
    : `  ${paint('red', `✗ ${shown}`)}${time}`;
}

function failureLines({ name, failures }: TestResult, number: number, paint: Paint): readonly string[] {
  return [`${number}) ${printable(name)}`, ...failures.flatMap((failure) => oneFailure(failure, paint)), ''];
}

function oneFailure({ at, place, message, value }: TestFailure, paint: Paint): readonly string[] {
  const head = `   ${at.file}:${at.line}:${at.column} ${place}`;
  const hint = message === undefined ? [] : [`     ${printable(message)}`];
  if (!value) return [head, ...hint.map((line) => paint('red', line))];
  const { path, expected, isRule, actual } = value;
  const difference = isRule ? undefined : differenceOf(expected, actual);
  const shown = isRule ? ruleText(expected) : inOneLine(expected);
  const sides = difference
    ? [
        `     ${paint('green', '- expected')}  ${paint('red', '+ got')}`,
        ...difference.map((line) => `     ${coloured(line, paint)}`),
      ]
    : [
        `     expected  ${paint('green', printable(shown))}`,
        `     got       ${paint('red', printable(inOneLine(actual, 300)))}`,
      ];
  return [head, `     in ${path === '' ? 'the outcome' : path}`, ...sides, ...hint];
}

/** Matchers as words: `above 9`. */
function ruleText(expected: unknown): string {
  const rules = Object.entries(Object(expected) as object);
  return rules.map(([name, argument]: [string, unknown]) => `${name} ${inOneLine(argument)}`).join(' and ');
}

function coloured(line: string, paint: Paint): string {
  if (line.startsWith('- ')) return paint('green', printable(line));
  return line.startsWith('+ ') ? paint('red', printable(line)) : printable(line);
}

function summary(report: TestReport, paint: Paint): string {
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((status) =>
    countOf(report, status),
  );
  const parts = [
    paint('green', `${passed} passed`),
    ...(failed ? [paint('red', `${failed} failed`)] : []),
    ...(skipped ? [paint('yellow', `${skipped} skipped`)] : []),
    ...(report.leftOut > 0
      ? [paint('yellow', `${report.leftOut} left out, as another test has "only"`)]
      : []),
  ];
  return `${parts.join(', ')} in ${Math.round(report.durationMs)} ms`;
}

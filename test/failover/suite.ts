import type { Mode } from './bench.js';
import { startScenario, type Result } from './run-scenario.js';
import { scenarios, type Scenario } from './scenarios.js';

export const modes: readonly Mode[] = ['streamed', 'verified'];

/**
 * Runs every fault in every mode, those that meet a timeout first and by themselves: the work of the others must
 * not make an answer late.
 */
export async function runSuite(scale: number): Promise<readonly Result[]> {
  const late = scenarios.filter(({ meetsTimeout }) => meetsTimeout);
  const others = scenarios.filter(({ meetsTimeout }) => !meetsTimeout);
  return [...(await runAtOnce(late, scale)), ...(await runAtOnce(others, scale))];
}

async function runAtOnce(these: readonly Scenario[], scale: number): Promise<readonly Result[]> {
  const each = these.flatMap((scenario) => modes.map((mode) => startScenario(scenario, mode, scale)));
  const ready = await Promise.all(each);
  return Promise.all(ready.map((scenario) => scenario.run()));
}

/** The best possible outcome of each fault in each mode. */
export const bestOutcomes = scenarios.flatMap(({ id, streamed }) =>
  modes.map((mode) => ({ id, mode, outcome: mode === 'verified' ? ('answered' as const) : streamed })),
);

type Outcomes = readonly Pick<Result, 'id' | 'mode' | 'outcome'>[];

/** Results as a Markdown table, a row for each fault, with the sums below it. */
export function tableOf(results: Outcomes): string {
  const rows = scenarios.map(({ id, fault, rule }) => {
    const cells = modes.map((mode) => cellOf(results.find((each) => each.id === id && each.mode === mode)));
    return `| ${[id, fault, rule, ...cells].join(' | ')} |`;
  });
  const sums = modes.map((mode) => sumOf(results.filter((each) => each.mode === mode)));
  return [
    `| # | fault of the primary provider | passes only if | ${modes.join(' | ')} |`,
    '|---|---|---|---|---|',
    ...rows,
    `| | | of ${scenarios.length} | ${sums.join(' | ')} |`,
  ].join('\n');
}

function cellOf(result: Outcomes[number] | undefined): string {
  return result?.outcome === 'failed' ? '**failed**' : (result?.outcome ?? '');
}

/** Number of results with an outcome. */
export function countOf(results: Outcomes, outcome: Result['outcome']): number {
  return results.filter((each) => each.outcome === outcome).length;
}

function sumOf(results: Outcomes): string {
  const [answered, safe] = [countOf(results, 'answered'), countOf(results, 'safe')];
  return safe > 0 ? `${answered} answered, ${safe} safe` : `${answered} answered`;
}

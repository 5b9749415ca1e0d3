import { windowsHelp } from '../answer/answer-headers.js';
import { contentScenarios } from './content-scenarios.js';
import { faults } from './faults.js';
import { framingScenarios } from '../answer/framing.js';
import { findScenarios, parseScenario, type Scenario } from './marker.js';
import { badRequest } from '../refusal.js';
import { streamScenarios } from './stream-scenarios.js';

/** Every scenario by name, with a line of description. */
const helpOf: ReadonlyMap<string, string> = new Map([
  ...Object.entries(faults).map(([name, { help }]) => [name, help] as const),
  ...Object.entries(streamScenarios).map(([name, { help }]) => [name, help] as const),
  ...Object.entries(framingScenarios).map(([name, { help }]) => [name, help] as const),
  ...Object.entries(contentScenarios).map(([name, { help }]) => [name, help] as const),
  ['windows', windowsHelp],
]);

/** Request for matching the `for`, `on`, `label` and `times` of a scenario. */
export interface Asked {
  readonly operation: string;
  readonly credential: string;
  /** Label of its header `x-simulator-label`; empty: it has none. */
  readonly label: string;
  /** The last user message's text. */
  readonly text: string;
}

/** Decides which scenarios apply to a request, and counts the uses of the limited ones. */
export class ScenarioSelector {
  /** Use count of each limited scenario, oldest first. */
  readonly #uses = new Map<string, number>();
  readonly #capacity = 1000;

  /** Scenarios of `always` and of the message that match. Throws a 400 `Refusal` for an unknown name. */
  select(asked: Asked, always: readonly string[]): readonly Scenario[] {
    const general = always.map(parseScenario).filter((scenario) => this.#holds(scenario, asked, ''));
    const own = findScenarios(asked.text).filter((scenario) => this.#holds(scenario, asked, asked.text));
    return [...general, ...own];
  }

  #holds({ name, params, text }: Scenario, asked: Asked, source: string): boolean {
    if (!helpOf.has(name)) throw badRequest(`simulator: unknown scenario "${name}"`);
    if ('for' in params && params['for'] !== asked.credential) return false;
    if ('on' in params && params['on'] !== asked.operation) return false;
    if ('label' in params && params['label'] !== asked.label) return false;
    if (!('times' in params)) return true;
    const key = [asked.operation, text, source].join('\0');
    const uses = this.#uses.get(key) ?? 0;
    this.#uses.delete(key);
    this.#uses.set(key, uses + 1);
    const oldest = this.#uses.keys().next();
    if (this.#uses.size > this.#capacity && !oldest.done) this.#uses.delete(oldest.value);
    return uses < Number(params['times']);
  }
}

/** Names of all scenarios. */
export const scenarioNames: readonly string[] = [...helpOf.keys()];

/** All scenarios, one a line. */
export function scenarioHelp(): string {
  const width = Math.max(...[...helpOf.keys()].map((name) => name.length)) + 2;
  return [...helpOf].map(([name, help]) => `  ${name.padEnd(width)}${help}`).join('\n');
}

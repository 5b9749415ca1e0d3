import { parseArgs } from 'node:util';
import { targetNames, type TargetName } from './targets/target.js';

export interface Options {
  /** Names of sections, lower case; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  readonly rounds: number;
  /** Requests a round, in place of each workload's own. */
  readonly requests: number | undefined;
  readonly targets: readonly TargetName[];
  /** Whether Portkey was asked for by name, and is to be installed where it is missing. */
  readonly installsPortkey: boolean;
  /** The Node binaries to measure on, one after the other. */
  readonly nodes: readonly string[];
  readonly minutes: number;
  readonly json: string | undefined;
  readonly isQuick: boolean;
  /** Where the gateways leave their CPU profiles. */
  readonly profile: string | undefined;
}

export const usage = `npm run bench [-- OPTIONS]

  --only W2,W6          these alone: W1 to W8, pings (memory), workers (listen.workers 1 and 2), state (ledger and
                        keys), start, connects (5,000 at once), values (bodies of very many),
                        translate (formats, 0.25 to 16 MB)
  --rounds 7            rounds of each; the table has their medians
  --requests 1500       requests a round, in place of each workload's own number
  --baselines LIST      of direct, pass-through, nginx, portkey; default: those that are installed.
                        Portkey's gateway is installed into a scratch folder where it is named here
  --node PATH           the Node that all processes run on; may be said several times
  --minutes 8           no round begins after it
  --quick               few rounds and requests, and no Portkey unless it is named: 90 seconds
  --json FILE           the figures, for other programs
  --profile FOLDER      profiles the gateways into a folder for each section, and prints the top ten
                        lines of each; the figures are worse for it
`;

const spec = {
  only: { type: 'string' },
  rounds: { type: 'string' },
  requests: { type: 'string' },
  baselines: { type: 'string' },
  node: { type: 'string', multiple: true },
  minutes: { type: 'string' },
  quick: { type: 'boolean', default: false },
  json: { type: 'string' },
  profile: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** What the command line got wrong. */
export class OptionError extends Error {}

/** Throws an OptionError that names what is wrong; undefined where help was asked for. */
export function optionsIn(args: readonly string[], sections: readonly string[]): Options | undefined {
  const values = parsed(args);
  if (values.help) return undefined;
  const isQuick = values.quick;
  const baselines = values.baselines === undefined ? undefined : baselinesIn(values.baselines);
  const isWanted = (name: TargetName) => baselines?.includes(name) ?? !(isQuick && name === 'portkey');
  return {
    only: values.only === undefined ? undefined : new Set(only(values.only, sections)),
    rounds: number('rounds', values.rounds) ?? (isQuick ? 3 : 7),
    requests: number('requests', values.requests),
    targets: targetNames.filter((name) => name === 'gateway' || isWanted(name)),
    installsPortkey: baselines?.includes('portkey') ?? false,
    nodes: values.node ?? [process.execPath],
    minutes: number('minutes', values.minutes) ?? (isQuick ? 1.5 : 8),
    json: values.json,
    profile: values.profile,
    isQuick,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: spec }).values;
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value > 0) return value;
  throw new OptionError(`--${name} must be a number above 0, not "${text}".`);
}

function only(text: string, sections: readonly string[]): readonly string[] {
  const names = text.toLowerCase().split(',');
  const known = new Set(sections.map((section) => section.toLowerCase()));
  const wrong = names.find((name) => !known.has(name));
  if (wrong !== undefined)
    throw new OptionError(`--only: there is no "${wrong}"; there are ${[...known].join(', ')}.`);
  return names;
}

function baselinesIn(text: string): readonly TargetName[] {
  const names = text.split(',');
  const wrong = names.find((name) => !targetNames.some((known) => known === name));
  if (wrong !== undefined)
    throw new OptionError(`--baselines: there is no "${wrong}"; there are ${targetNames.join(', ')}.`);
  return targetNames.filter((known) => names.includes(known));
}

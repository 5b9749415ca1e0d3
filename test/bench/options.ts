import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { shipped } from './measure/lab.js';
import { namedAlone, oldNames, targetNames, type TargetName } from './targets/target.js';

export interface Options {
  /** Names of sections, lower case; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  readonly rounds: number;
  /** Requests before the first round: after 10,000 of them V8 compiles no more of a gateway's code. */
  readonly warmUpRequests: number;
  /** Requests a round, in place of each workload's own. */
  readonly requests: number | undefined;
  readonly targets: readonly TargetName[];
  /** True if Portkey was asked for by name, and is to be installed if it is missing. */
  readonly installsPortkey: boolean;
  /** The Node binaries to measure on, one after the other. */
  readonly nodes: readonly string[];
  /** Folder of a checkout with the build to compare with. */
  readonly against: string | undefined;
  readonly minutes: number;
  readonly json: string | undefined;
  readonly isQuick: boolean;
  /** Folder of the gateways' CPU profiles. */
  readonly profile: string | undefined;
}

export const usage = `npm run bench [-- OPTIONS]

  --only W2,W6          these alone: W0 to W10, held (1,000 slow clients), waiting (1,000 streams without events),
                        pings (memory), workers (listen.workers 1 and 2), state (ledger and keys), start,
                        remote (calls of a remote stage), isolated (event batches of a stage in a child process),
                        connects (5,000 at once), values (bodies of very many), cache-ledger,
                        translate (formats, 0.25 to 16 MB)
  --rounds 7            rounds of each; the table has their medians
  --requests 1500       requests a round, in place of each workload's own number
  --against DIR         another checkout, with its dist: its build is measured in the same rounds, twice, and the
                        ratios are given round by round; a change under 5 % is noise;
                        15 rounds and 60 minutes unless others are said
  --baselines LIST      of direct, pass-through, chat (the gateway over an upstream that speaks Chat), traced (the gateway
                        that sends traces of 10 % of its requests), nginx, portkey, or none; default: those that are
                        installed, without chat and traced.
                        Portkey's gateway is installed into a scratch folder where it is named here
  --node PATH           the Node that all processes run on; may be said several times
  --minutes 15          no round begins after it
  --quick               few rounds and requests, none after 90 seconds, and no Portkey unless it is named
  --json FILE           the figures, for other programs
  --profile FOLDER      profiles the gateways into a folder for each section, and prints the top ten functions;
                        W0 to W3, W5 to W7, W9 and W10 after their rounds, with the CPU time by source file;
                        the others from start to end, so that their figures are worse for it
`;

const spec = {
  only: { type: 'string' },
  rounds: { type: 'string' },
  against: { type: 'string' },
  requests: { type: 'string' },
  baselines: { type: 'string' },
  node: { type: 'string', multiple: true },
  minutes: { type: 'string' },
  quick: { type: 'boolean', default: false },
  json: { type: 'string' },
  profile: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Names of all options. */
export const optionNames = Object.keys(spec);

/** Error in the command line. */
export class OptionError extends Error {}

/** Throws an OptionError that names what is wrong; undefined where help was asked for. */
export function optionsIn(args: readonly string[], sections: readonly string[]): Options | undefined {
  const values = parsed(args);
  if (values.help) return undefined;
  const isQuick = values.quick;
  const baselines = values.baselines === undefined ? undefined : baselinesIn(values.baselines);
  const against = values.against === undefined ? undefined : checkoutAt(values.against);
  const isWanted = (name: TargetName) =>
    baselines?.includes(name) ?? (!namedAlone.has(name) && !(isQuick && name === 'portkey'));
  const isTarget = (name: TargetName) => (oldNames.has(name) ? against !== undefined : isWanted(name));
  const usual = usualIn(isQuick, against !== undefined);
  return {
    only: values.only === undefined ? undefined : new Set(only(values.only, sections)),
    rounds: number('rounds', values.rounds) ?? usual.rounds,
    warmUpRequests: usual.warmUpRequests,
    requests: number('requests', values.requests),
    targets: targetNames.filter((name) => name === 'gateway' || isTarget(name)),
    installsPortkey: baselines?.includes('portkey') ?? false,
    nodes: values.node ?? [process.execPath],
    against,
    minutes: number('minutes', values.minutes) ?? usual.minutes,
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

/** Extent of a run where nothing is said of it. */
function usualIn(
  isQuick: boolean,
  isAgainst: boolean,
): Pick<Options, 'rounds' | 'minutes' | 'warmUpRequests'> {
  if (isQuick) return { rounds: 3, minutes: 1.5, warmUpRequests: 1500 };
  const warmUpRequests = 10_000;
  return isAgainst ? { rounds: 15, minutes: 60, warmUpRequests } : { rounds: 7, minutes: 15, warmUpRequests };
}

function checkoutAt(folder: string): string {
  if (existsSync(shipped('dist/server.js', folder))) return resolve(folder);
  throw new OptionError(`--against: there is no dist/server.js in "${folder}"; build that checkout first.`);
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
  if (text === 'none') return [];
  const baselines = targetNames.filter((name) => !oldNames.has(name));
  const names = text.split(',');
  const wrong = names.find((name) => !baselines.some((known) => known === name));
  if (wrong !== undefined)
    throw new OptionError(`--baselines: there is no "${wrong}"; there are ${baselines.join(', ')}.`);
  return baselines.filter((known) => names.includes(known));
}

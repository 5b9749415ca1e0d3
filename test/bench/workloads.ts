import type { FormatName } from '../support/formats.js';
import type { SessionKind } from './load/sessions.js';
import type { ScriptName } from './upstream/scripts.js';
import { oldNames, type TargetName } from './targets/target.js';

/** One kind of request, and the script of its answer. */
export interface Ask {
  readonly format: FormatName;
  readonly isStream: boolean;
  readonly script: ScriptName;
  /** Size of the conversation in the request. */
  readonly promptBytes?: number;
  /** Sessions that take turns, with a key that has limits; default: one body for all requests, and a key without. */
  readonly sessions?: SessionKind;
}

/** Line of a table: a target and its request. */
export interface Line {
  readonly name: string;
  readonly target: TargetName;
  readonly ask: Ask;
}

/** Max CPU time of the gateway, relative to another line. */
export interface Goal {
  readonly of: string;
  readonly atMost: number;
}

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** A round of the gateway. */
  readonly requests: number;
  readonly ask: Ask;
  /** Request to targets that only pass on. Default: that to the gateway. */
  readonly plain?: Ask;
  /** Further lines, to compare with. */
  readonly beside?: readonly Line[];
  /** Targets that do not know the format. */
  readonly without?: readonly TargetName[];
  readonly goals: readonly Goal[];
}

const messages64 = { format: 'messages', isStream: true, script: 'words-64' } as const;
const chat64 = { ...messages64, format: 'chat' } as const;

/** Workloads that are measured by their CPU time a request. */
export const workloads: readonly Workload[] = [
  {
    name: 'W0',
    title: 'stream of one delta, Messages in and out: the fixed cost of a request',
    requests: 3000,
    ask: { format: 'messages', isStream: true, script: 'words-1' },
    goals: [{ of: 'pass-through', atMost: 3.2 }],
  },
  {
    name: 'W1',
    title: 'whole JSON answer of 50 deltas',
    requests: 1500,
    ask: { format: 'messages', isStream: false, script: 'words-50' },
    // Who asks for JSON upstream gets JSON; the gateway always asks for a stream.
    plain: { format: 'messages', isStream: false, script: 'whole-50' },
    goals: goals(3.3, 0.2),
  },
  {
    name: 'W2',
    title: 'stream of 64 deltas, Messages in and out',
    requests: 1500,
    ask: messages64,
    goals: goals(1.8, 0.14),
  },
  {
    name: 'W3',
    title: 'stream of 512 deltas',
    requests: 400,
    ask: { ...messages64, script: 'words-512' },
    goals: goals(0.88, 0.1),
  },
  {
    name: 'W5',
    title: '200 kB request, 16 deltas',
    requests: 600,
    ask: { ...messages64, script: 'words-16', promptBytes: 200_000 },
    goals: goals(2.3, 0.16),
  },
  {
    name: 'W6',
    title: 'Chat Completions in and out, 64 deltas',
    requests: 1500,
    ask: chat64,
    plain: messages64,
    goals: goals(2.4, 0.15),
  },
  {
    name: 'W7',
    title: 'Responses in and out, 64 deltas',
    requests: 1500,
    ask: { ...messages64, format: 'responses' },
    plain: messages64,
    beside: [{ name: 'gateway, W6', target: 'gateway', ask: chat64 }],
    without: ['portkey'],
    goals: [{ of: 'gateway, W6', atMost: 1.5 }],
  },
  {
    name: 'W9',
    title:
      'a turn of an agent, 150 kB: 30 tools, two system blocks, 81 messages with calls and cache markers; 200 sessions, a ' +
      'key with limits in a team with a budget',
    requests: 600,
    ask: { ...messages64, script: 'cached-16', sessions: 'agent' },
    without: ['portkey'],
    goals: [],
  },
  {
    name: 'W10',
    title: 'the request of W0 with the sessions and the key of W9',
    requests: 3000,
    ask: { ...messages64, script: 'cached-1', sessions: 'small' },
    without: ['portkey'],
    goals: [],
  },
];

/** Lines that are measured in a round of a workload, in this order. */
export function linesOf(workload: Workload, targets: readonly TargetName[]): readonly Line[] {
  const { ask, plain = ask, beside = [], without = [] } = workload;
  const own = targets
    .filter((target) => !without.includes(target))
    .map((target) => ({
      name: target,
      target,
      ask: translators.has(target) ? askOf(target, workload) : plain,
    }));
  return [...own, ...beside];
}

const translators: ReadonlySet<TargetName> = new Set(['gateway', 'chat', ...oldNames, 'portkey']);

/** Portkey asks upstream for what it is asked for, so that its whole answers come from whole ones. */
function askOf(target: TargetName, { ask, plain = ask }: Workload): Ask {
  return target === 'portkey' ? { ...ask, script: plain.script } : ask;
}

function goals(passThrough: number, portkey: number): readonly Goal[] {
  return [
    { of: 'pass-through', atMost: passThrough },
    { of: 'portkey', atMost: portkey },
  ];
}

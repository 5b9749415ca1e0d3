import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Sources, type CallFrame } from './sources.js';
import { table } from './table.js';

/** Profile as V8 writes it; the fields used here. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** The node that was on top of the stack, one for each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  /** Ids of the nodes that it calls. */
  readonly children?: readonly number[];
}

/** Reads a profile that V8 has written. */
export async function readProfile(file: string): Promise<Profile> {
  return JSON.parse(await readFile(file, 'utf8')) as Profile; // as V8 writes it
}

/** The ten functions that most time went to, of all profiles in a folder; what idles is left out. */
export async function topTen(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  const profiles = await Promise.all(files.map((name) => readProfile(join(folder, name))));
  return topTenOf(profiles, new Sources());
}

/** The ten functions that most time went to, at their place in the source. */
export function topTenOf(profiles: readonly Profile[], sources: Sources): string {
  const times = selfTimes(profiles, sources);
  const total = sumOf(times);
  const rows = [...times]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 10)
    .map(([name, micros]) => [name, `${((micros / total) * 100).toFixed(1)} %`]);
  return table(['function', 'of the busy time'], rows);
}

/** Microseconds spent in each function itself, without the profiler. */
export function selfTimes(profiles: readonly Profile[], sources: Sources): ReadonlyMap<string, number> {
  return timesBy(profiles, ({ nodes }) => {
    const counted = nodes.filter(({ callFrame: { url } }) => url !== inspector);
    return new Map(counted.map((node) => [node.id, nameOf(node.callFrame, sources)]));
  });
}

/** Sums of the times of samples by the name of their node; what idles, and a node without a name, is left out. */
export function timesBy(
  profiles: readonly Profile[],
  namesIn: (profile: Profile) => ReadonlyMap<number, string>,
): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const profile of profiles) {
    const names = namesIn(profile);
    for (const [at, id] of profile.samples.entries()) {
      const name = names.get(id);
      if (name !== undefined && !idle.has(name))
        times.set(name, (times.get(name) ?? 0) + (profile.timeDeltas[at] ?? 0));
    }
  }
  return times;
}

export function sumOf(times: ReadonlyMap<string, number>): number {
  return [...times.values()].reduce((sum, micros) => sum + micros, 0);
}

const inspector = 'node:inspector';

const idle: ReadonlySet<string> = new Set(['(idle)', '(root)']);

function nameOf(frame: CallFrame, sources: Sources): string {
  const name = (frame.functionName || 'anonymous').slice(0, 60); // an expression is called by all of its text
  if (!frame.url) return name;
  const { file, line } = sources.placeOf(frame);
  return `${name} ${basename(file)}:${line}`;
}

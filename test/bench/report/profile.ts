import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { table } from './table.js';

/** Profile as `node --cpu-prof` writes it; the fields used here. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** The node that was on top of the stack, one for each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** The ten functions that most time went to, of all profiles in a folder; what idles is left out. */
export async function topTen(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const times = selfTimes(texts.map((text) => JSON.parse(text) as Profile)); // Node has written them
  const total = [...times.values()].reduce((sum, micros) => sum + micros, 0);
  const most = [...times].toSorted(([, a], [, b]) => b - a).slice(0, 10);
  const rows = most.map(([name, micros]) => [name, `${((micros / total) * 100).toFixed(1)} %`]);
  return table(['function', 'of the busy time'], rows);
}

/** Microseconds spent in each function itself. */
export function selfTimes(profiles: readonly Profile[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { nodes, samples, timeDeltas } of profiles) {
    const names = new Map(nodes.map((node) => [node.id, nameOf(node)]));
    for (const [at, id] of samples.entries()) {
      const name = names.get(id) ?? '';
      if (!idle.has(name)) times.set(name, (times.get(name) ?? 0) + (timeDeltas[at] ?? 0));
    }
  }
  return times;
}

const idle: ReadonlySet<string> = new Set(['(idle)', '(root)']);

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = (functionName || 'anonymous').slice(0, 60); // an expression is called by all of its text
  return url ? `${name} ${basename(url)}:${lineNumber + 1}` : name;
}

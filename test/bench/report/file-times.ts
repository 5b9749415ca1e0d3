import { isAbsolute, relative } from 'node:path';
import { sumOf, timesBy, type Profile, type ProfileNode } from './profile.js';
import type { CallFrame, Sources } from './sources.js';
import { table } from './table.js';

/**
 * Microseconds of a profile by source file, relative to the folder of the checkout. Natives and packages count for the
 * nearest frame of the checkout that called them, or for themselves where nothing of it did.
 */
export function fileTimes(profile: Profile, checkout: string, sources: Sources): ReadonlyMap<string, number> {
  return timesBy([profile], ({ nodes }) => ownersIn(nodes, (frame) => groupOf(frame, checkout, sources)));
}

/** Part of the program that a frame belongs to; `isOwn` for a file of the checkout. */
interface Group {
  readonly name: string;
  readonly isOwn: boolean;
}

/** Names of the groups that the nodes count for; none for the profiler's own. */
function ownersIn(
  nodes: readonly ProfileNode[],
  groupOfFrame: (frame: CallFrame) => Group | undefined,
): ReadonlyMap<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const owners = new Map<number, string>();
  const visit = (id: number, caller: Group | undefined): void => {
    const node = byId.get(id);
    if (!node) return;
    const group = ownerOf(groupOfFrame(node.callFrame), caller);
    if (!group.name.endsWith(profiler)) owners.set(id, group.name);
    for (const child of node.children ?? []) visit(child, group);
  };
  for (const id of nodes[0]?.children ?? []) visit(id, undefined);
  return owners;
}

/** Within a file of the checkout all that is not another such file counts for it. */
function ownerOf(own: Group | undefined, caller: Group | undefined): Group {
  if (own?.isOwn) return own;
  return caller?.isOwn ? caller : (own ?? caller ?? nodeItself);
}

const nodeItself: Group = { name: 'Node', isOwn: false };
/** The probe of this checkout, which the old build has loaded too. */
const profiler = 'test/bench/measure/probe.ts';

/** Undefined for a native function. */
function groupOf(frame: CallFrame, checkout: string, sources: Sources): Group | undefined {
  const { functionName, url } = frame;
  if (!url) return special.has(functionName) ? { name: functionName, isOwn: false } : undefined;
  const { file } = sources.placeOf(frame);
  if (!isAbsolute(file)) return nodeItself;
  const [, packaged] = file.split(/.*\/node_modules\//);
  if (packaged !== undefined) return { name: `node_modules/${packageIn(packaged)}`, isOwn: false };
  return { name: relative(checkout, file), isOwn: true };
}

/** Frames without a file that stand for themselves. */
const special: ReadonlySet<string> = new Set(['(idle)', '(program)', '(garbage collector)']);

function packageIn(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Times by file, and the CPU time of the thread a request in rounds without the profiler. */
export interface FileTimes {
  readonly line: string;
  readonly times: ReadonlyMap<string, number>;
  readonly threadMicros: number;
}

/** Table of CPU µs a request by file, with a column for each build; the files below `leastMicros` are one row. */
export function fileTable(builds: readonly FileTimes[], leastMicros = 1): string {
  const columns = builds.map(({ times, threadMicros }) => {
    const total = sumOf(times);
    return new Map([...times].map(([file, micros]) => [file, (micros / total) * threadMicros]));
  });
  const files = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const largest = (file: string) => Math.max(...columns.map((column) => column.get(file) ?? 0));
  const shown = files.filter((file) => largest(file) >= leastMicros);
  const rest = files.filter((file) => largest(file) < leastMicros);
  const rowOf = (name: string, of: readonly string[]) => [
    name,
    ...columns.map((column) => of.reduce((sum, file) => sum + (column.get(file) ?? 0), 0).toFixed(1)),
  ];
  return table(
    ['file', ...builds.map(({ line }) => `${line}, CPU µs a request`)],
    [
      ...shown.toSorted((a, b) => largest(b) - largest(a)).map((file) => rowOf(file, [file])),
      rowOf(`others, each under ${leastMicros} µs`, rest),
      rowOf('main thread', files),
    ],
  );
}

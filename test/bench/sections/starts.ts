import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf } from '../load/bodies.js';
import type { Lab } from '../measure/lab.js';
import { memoryOfTree, threadTimes, treeOf } from '../measure/proc.js';
import { buildsIn, startGateway, type GatewaySettings } from '../targets/gateway.js';
import type { Target } from '../targets/target.js';
import type { Ask } from '../workloads.js';

/** Condition of a start. */
export interface Variant {
  /** Suffix of the build's name in a table. */
  readonly name: string;
  /** The process is left alone for a while and measured again. */
  readonly isWatched?: boolean;
  /** The store has no file, and is made by all migrations. */
  readonly isNew?: boolean;
  /** The compile cache is empty. */
  readonly isCold?: boolean;
  /** The standard output is a pipe that is read; else it goes nowhere. */
  readonly isPiped?: boolean;
}

/** The variants; Node 20 has no compile cache. */
export function variantsOn(version: string): readonly Variant[] {
  const hasCache = majorOf(version) >= 22;
  return [
    { name: '', isWatched: true },
    { name: ', new file', isNew: true },
    ...(hasCache ? [{ name: ', cold compile cache', isCold: true }] : []),
    { name: ', stdout in a pipe', isPiped: true },
  ];
}

/** Major version of Node. */
export function majorOf(version: string): number {
  return Number.parseInt(version.slice(1), 10);
}

/** A build with its store and its compile cache, both from an earlier start. */
export interface Place {
  readonly line: string;
  readonly lab: Lab;
  readonly upstream: string;
  readonly checkout: string | undefined;
  readonly file: string;
  readonly compileCache: string;
}

/** Places of all builds, each of which has been started once. */
export async function placesIn(lab: Lab, upstream: string): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (const [line, checkout] of buildsIn(lab)) {
    const folder = await mkdtemp(join(lab.folder, 'place-'));
    const file = join(folder, 'data', 'gateway.db');
    const place = { line, lab, upstream, checkout, file, compileCache: join(folder, 'compiled') };
    const { target } = await startIn(place, { name: '' });
    await lab.stop(target.pid);
    places.push(place);
  }
  return places;
}

/** A start up to a second after its first answer. */
export interface Begun {
  readonly line: string;
  readonly target: Target;
  readonly firstAnswerMs: number;
  readonly cpuMs: number;
  readonly laterCpuMs: number;
  readonly laterRssMb: number;
}

export async function startIn(place: Place, variant: Variant): Promise<Begun> {
  const { line, lab, upstream } = place;
  const target = await startGateway(lab, upstream, await settingsOf(place, variant));
  const answer = await fetch(target.origin + target.address(ask).path, {
    method: 'POST',
    headers: target.address(ask).headers,
    body: bodyOf(ask),
  });
  await answer.text();
  const firstAnswerMs = performance.now() - target.spawnedMs;
  if (!answer.ok) throw new Error(`The first answer has status ${answer.status}.`);
  const cpuMs = await cpuMsOf(target);
  await sleep(1000);
  const [laterCpuMs, laterRssMb] = [await cpuMsOf(target), await memoryOf(target)];
  return { line, target, firstAnswerMs, cpuMs, laterCpuMs, laterRssMb };
}

const ask: Ask = { format: 'messages', isStream: false, script: 'words-16' };

async function settingsOf(place: Place, { isNew, isCold, isPiped }: Variant): Promise<GatewaySettings> {
  const { lab, checkout, file, compileCache } = place;
  const empty = isCold ? await mkdtemp(join(lab.folder, 'compiled-')) : undefined;
  return {
    checkout,
    key: 'master',
    ...(!isNew && { file }),
    compileCache: empty ?? compileCache,
    isOutputRead: isPiped ?? false,
  };
}

/** User and system time of its processes since their spawn. */
export async function cpuMsOf({ pid }: Target): Promise<number> {
  const times = await threadTimes(await treeOf(pid));
  return [...times.values()].reduce((sum, ms) => sum + ms, 0);
}

export async function memoryOf({ pid }: Target): Promise<number> {
  return (await memoryOfTree(pid)).rssMb;
}

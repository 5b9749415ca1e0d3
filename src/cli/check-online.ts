import { lookup } from 'node:dns/promises';
import type { Config, SlotConfig } from '../config/config.js';
import { untilAborted } from '../plugin/upstream/index.js';
import { globMatcher, type CatalogModel } from '../plugin/index.js';
import { counted } from '../kit/plural.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';
import { partsOf, shortName } from '../engine/models/name-parts.js';
import type { Probe } from '../engine/pipeline/run/pipeline.js';
import type { DiscoveredModels } from '../engine/slots/upstream/discovered-models.js';
import { isNamed, ModelNames } from '../engine/slots/model-names.js';
import type { SlotPool } from '../engine/slots/pool/pool.js';
import { messageWithout, runProbes, secretsOf, slotProbes } from './probes.js';
import type { UpstreamSlot } from '../engine/slots/upstream/upstream-slot.js';

interface OnlineReport {
  readonly text: string;
  /** True if every slot could be checked and every model of the catalog is known to a slot that serves it. */
  readonly hasPassed: boolean;
}

/**
 * Resolves the host of every slot, requests its list of models (diagnoses one without) and runs the probes of
 * stages, upstreams and accounts, with limited concurrency and one overall timeout. OAuth tokens are not used: those in the store may be newer, and a refresh here would revoke them.
 */
export async function checkOnline(
  { slots, models }: Config,
  pool: SlotPool,
  stages: readonly Probe[],
): Promise<OnlineReport> {
  const opened = new Map(pool.opened.map((slot) => [slot.id, slot]));
  const signal = AbortSignal.timeout(totalMs);
  const results: SlotResult[] = [];
  const waiting = slots.values();
  const askEach = async () => {
    for (const slot of waiting) results.push(await ask(slot, opened.get(slot.id), signal));
  };
  await Promise.all(Array.from({ length: atATime }, askEach));
  const ofSlots = slots.flatMap((slot) => slotProbes(slot, pool, signal));
  const probed = await runProbes([...stages, ...ofSlots], signal, slotMs);
  const unknown = models.flatMap((model) => unknownModel(model, results));
  const rows = slots.flatMap(({ id }) => results.filter(({ slot }) => slot.id === id)).flatMap(linesOf);
  const text = [
    '',
    'online',
    ...rows,
    ...(probed.lines.length > 0 ? ['', 'probes', ...probed.lines] : []),
    ...(unknown.length > 0 ? ['', 'models unknown to all slots', ...unknown] : []),
    '',
  ].join('\n');
  return {
    text,
    hasPassed:
      unknown.length === 0 && probed.hasPassed && results.every(({ problem }) => problem === undefined),
  };
}

/** Result of checking one slot. */
interface SlotResult {
  readonly slot: SlotConfig;
  readonly addresses?: string;
  /** Names of the slot's models; undefined if none were requested or the request failed. */
  readonly names?: readonly string[];
  /** Models that a slot with `models: discover` serves. */
  readonly discovered?: DiscoveredModels | undefined;
  /** The reason why no list of models was requested. */
  readonly note?: string;
  readonly problem?: string;
}

const totalMs = 60_000;
const slotMs = 10_000;
const atATime = 8;

async function ask(
  slot: SlotConfig,
  opened: UpstreamSlot | undefined,
  until: AbortSignal,
): Promise<SlotResult> {
  const result = await answerOf(slot, opened, until);
  const isKnown = result.names !== undefined || (opened && !opened.listsModels);
  return slot.discovers && isKnown ? { ...result, discovered: opened?.discovered } : result;
}

async function answerOf(
  slot: SlotConfig,
  opened: UpstreamSlot | undefined,
  until: AbortSignal,
): Promise<SlotResult> {
  const { baseUrl } = opened ?? slot;
  if (baseUrl === undefined) return { slot, note: 'answers without a network' };
  const signal = AbortSignal.any([until, AbortSignal.timeout(slotMs)]);
  const found: { addresses?: string } = {};
  try {
    const { hostname } = new URL(slot.proxy ?? baseUrl);
    found.addresses = await untilAborted(resolve(hostname), signal);
    if (opened?.account.isStored) return { slot, ...found, note: 'not asked: its tokens are in the store' };
    if (!opened?.listsModels) return { slot, ...found, ...(await diagnose(slot, opened, signal)) };
    const models = await untilAborted(opened.listModels(signal), signal);
    return { slot, ...found, names: models.map(({ id }) => id) };
  } catch (error) {
    const lacksList = /^(404|405|501)$/.test(String(Object(error).status));
    if (lacksList) return { slot, ...found, note: 'has no list of models' };
    return { slot, ...found, problem: errorText(error, slot) };
  }
}

/** Result for a slot without a list of models: it is connected, and its credential checked if that is free. */
async function diagnose(
  slot: SlotConfig,
  opened: UpstreamSlot | undefined,
  signal: AbortSignal,
): Promise<Pick<SlotResult, 'note' | 'problem'>> {
  const steps = (await opened?.diagnose(signal)) ?? [];
  const failed = steps.find(({ ok }) => !ok);
  if (failed) return { problem: errorText(new Error(`${failed.step}: ${failed.detail}`), slot) };
  const isProven = steps.some(({ step, skipped }) => step === 'credential' && skipped !== true);
  const credential = isProven ? 'its credential is accepted' : 'its credential was not checked';
  return { note: `has no list of models; ${credential}` };
}

async function resolve(hostname: string): Promise<string> {
  const found = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true });
  return found.map(({ address }) => address).join(', ');
}

function errorText(error: unknown, slot: SlotConfig): string {
  return messageWithout(secretsOf(slot), error, slotMs);
}

function linesOf({ slot, addresses, names, discovered, note, problem }: SlotResult): readonly string[] {
  const models = names && counted(names.length, 'model');
  const what = problem === undefined ? (note ?? models) : `FAILED: ${problem}`;
  const served = discovered && problem === undefined ? listOf(discovered) : undefined;
  return [[slot.id, addresses, what], ...(served === undefined ? [] : [['', served]])].map(
    (parts) => `  ${parts.filter((part) => part !== undefined).join('  ')}`,
  );
}

/** Models that a slot serves because they are listed, the first of them. */
function listOf({ list }: DiscoveredModels): string {
  const ids = list.slice(0, maxShown).map(({ id }) => id);
  const others = list.length > maxShown ? [`and ${list.length - maxShown} more`] : [];
  return `serves ${[...ids, ...others].join(', ') || 'none of them'}`;
}

const maxShown = 50;

/**
 * Report line for a model that no slot serves or none of the serving slots knows; none if one of those slots
 * gave no list.
 */
function unknownModel(model: CatalogModel, results: readonly SlotResult[]): readonly string[] {
  const { id } = model;
  const serving = results.filter((result) => isServedBy(model, result));
  const [first] = serving;
  if (!first) return [`  ${id}: no slot serves it`];
  const wanted = ({ slot, discovered }: SlotResult): string =>
    discovered?.idOf(model) ?? new ModelNames(slot).of(model);
  if (serving.some((each) => !each.names || each.names.some((name) => isName(wanted(each), name)))) return [];
  const upstreamModel = wanted(first);
  const names = serving.flatMap(({ names: listed = [] }) => listed);
  const meant =
    names.find((name) => shortName(name) === shortName(upstreamModel)) ?? didYouMean(upstreamModel, names);
  const cure = meant === undefined ? '' : `; did you mean "${meant}" as its upstreamModel?`;
  return [`  ${id}: no slot has "${upstreamModel}"${cure}`];
}

function isServedBy(model: CatalogModel, { slot, discovered }: SlotResult): boolean {
  if (slot.discovers) return discovered?.serves(model) ?? true;
  return isNamed(model, globMatcher(slot.models));
}

/** True if the name matches, also without its date: the vendor accepts a dated model by its undated name. */
function isName(name: string, listed: string): boolean {
  return listed === name || partsOf(listed)?.undated === name;
}

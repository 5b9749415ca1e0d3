import { sections } from '../config/sections/sections.js';
import { redactMarked } from '../kit/schema/redact.js';
import type { Runtime } from '../gateway/runtime.js';
import type { Services } from '../gateway/services.js';

type Entry = Readonly<Record<string, unknown>>;

/** A config as written, which has been checked. */
interface Written extends Entry {
  readonly pipeline: readonly Entry[];
  readonly pipelines?: readonly (Entry | string)[];
  readonly formats?: readonly (Entry | string)[];
  readonly slots: readonly Entry[];
  readonly tests?: unknown;
}

/**
 * The config as written, without the headers of slots, without options that their plugins mark as secret or do not
 * describe, without the secrets of its sections, and without its tests.
 */
export function maskedConfig({ config, formats, pipeline }: Runtime, slots: Services['slots']): object {
  const { tests: _, ...written } = config.written as Written;
  return {
    ...written,
    pipeline: written.pipeline.map((entry, at) => maskedStage(entry, `pipeline[${at}]`, pipeline.stages)),
    ...(written.pipelines && {
      pipelines: written.pipelines.map((item, at) =>
        typeof item === 'string' ? item : maskedPipeline(item, `pipelines[${at}]`, pipeline.pipelines),
      ),
    }),
    ...(written.formats && {
      formats: written.formats.map((entry, at) =>
        typeof entry === 'string' ? entry : masked(entry, 'with', formats[at]?.options),
      ),
    }),
    ...maskedSections(written),
    slots: written.slots.map((entry) => maskedSlot(entry, String(entry['id']), slots)),
  };
}

function maskedSections(written: Written): Entry {
  const known = Object.entries(sections).filter(([name]) => Object.hasOwn(written, name));
  return Object.fromEntries(known.map(([name, { schema }]) => [name, redactMarked(written[name], schema)]));
}

/** An entry under `slots:` without its headers and the options that its plugins mark as secret. */
export function maskedSlot(entry: Entry, id: string, slots: Services['slots']): Entry {
  const { upstream, account } = slots.get(id)?.plugins ?? {};
  const own: { readonly properties?: object } = account?.plugin.options ?? {};
  const withKind = { ...own, properties: { ...own.properties, kind: {}, integrity: {} } };
  return masked(masked(masked(entry, 'with', upstream?.plugin.options), 'headers', {}), 'account', withKind);
}

function masked(entry: Entry, part: string, schema: object | undefined): Entry {
  return Object.hasOwn(entry, part) ? { ...entry, [part]: redactMarked(entry[part], schema) } : entry;
}

/** An entry of the pipeline, or an alternative of one, without the options that its plugin marks as secret. */
function maskedStage(entry: Entry, path: string, stages: Runtime['pipeline']['stages']): Entry {
  const { oneOf } = entry as { oneOf?: readonly Entry[] }; // it has been checked
  if (!oneOf) return withOptions(entry, stages.find((stage) => stage.path === path)?.options);
  return { ...entry, oneOf: oneOf.map((one, at) => maskedStage(one, `${path}.oneOf[${at}]`, stages)) };
}

type Stages = Runtime['pipeline']['stages'];

/** An item of `pipelines:` without the options that plugins of its changes mark as secret. */
function maskedPipeline(item: Entry, path: string, pipelines: Runtime['pipeline']['pipelines']): Entry {
  const { changes } = item as { changes?: readonly Entry[] }; // it has been checked
  if (!changes) return item;
  const stages = pipelines.flatMap((pipeline) => pipeline.stages);
  return {
    ...item,
    changes: changes.map((change, at) => maskedChange(change, `${path}.changes[${at}]`, stages)),
  };
}

/** A change without options that are secret, and without those of an entry that is no longer listed. */
function maskedChange(change: Entry, path: string, stages: Stages): Entry {
  const { add, by } = change as { add?: readonly Entry[]; by?: Entry }; // it has been checked
  return {
    ...withOptions(change, stages.find((stage) => stage.path === path)?.options),
    ...(add && { add: add.map((entry, at) => maskedStage(entry, `${path}.add[${at}]`, stages)) }),
    ...(by && { by: maskedStage(by, `${path}.by`, stages) }),
  };
}

/** An entry of the pipeline with the visible part of its options. */
function withOptions(entry: Entry, shown: object = {}): Entry {
  if (!entry['with']) return entry;
  const options = new Map<string, unknown>(Object.entries(shown));
  const keys = Object.keys(entry['with']);
  return { ...entry, with: Object.fromEntries(keys.map((key) => [key, options.get(key)])) };
}

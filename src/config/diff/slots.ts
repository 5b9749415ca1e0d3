import type { AccountConfig, SlotConfig } from '../config.js';
import { settled, shown } from '../sections/section.js';
import { slotSettings, SlotSchema, type RawSlot } from '../slots/slot-schema.js';
import { compileCheck } from '../../plugin/format/index.js';
import type { Entry } from './entries.js';
import type { LoadedConfig, LoadedSlotPlugins } from './loaded-config.js';
import { objectValue, optionsValue, plainValue, type Value } from './values.js';

/** The slots of a config as entries that can be compared. */
export function slotEntries({ config, slots }: LoadedConfig): readonly Entry[] {
  const written = writtenList(config.written, 'slots');
  return config.slots.flatMap((slot, at) => {
    const plugins = slots[at];
    if (!plugins) return [];
    return [
      { name: slot.id, value: slotValue(slot, plugins, written[at]), defaults: () => defaultsOf(plugins) },
    ];
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Entries of a list as written in the file; empty if the file has none. */
export function writtenList(written: unknown, key: 'slots' | 'formats'): readonly unknown[] {
  const list = (Object(written) as Fields)[key]; // any object has properties, perhaps undefined
  return Array.isArray(list) ? list : [];
}

/** Values in the order of the schema. */
function slotValue(slot: SlotConfig, plugins: LoadedSlotPlugins, entry: unknown): Value {
  const written = Object(entry) as Fields; // any object has properties, perhaps undefined
  const settings = new Map<string, unknown>(Object.entries(shown(slotSettings, slot)));
  const own = new Map(Object.entries(ownValues(slot, plugins, written)));
  const keys = Object.keys(slotSettings).filter((key) => key !== 'id');
  return objectValue(
    Object.fromEntries(
      keys.map((key) => [key, own.get(key) ?? plainValue(settings.get(key), written[key])] as const),
    ),
  );
}

/** Settings with their own conversion. */
function ownValues(
  slot: SlotConfig,
  { upstream, account }: LoadedSlotPlugins,
  written: Fields,
): Readonly<Record<string, Value>> {
  const plain = (key: string, value: unknown) => plainValue(value, written[key]);
  return {
    upstream: plain('upstream', slot.upstream),
    integrity: plain('integrity', slot.integrity),
    with: optionsValue(upstream.options, written['with'], upstream.schema),
    baseUrl: plain('baseUrl', slot.baseUrl),
    account: withKind(
      slot.account ?? { kind: 'none' },
      optionsValue(account.options, written['account'], account.schema),
    ),
    models: plain('models', servedValue(slot)),
    filter: plain('filter', slot.filter),
    tls: plain('tls', slot.tls?.shown),
    headers: optionsValue(slot.headers, written['headers'], {}),
  };
}

/** Models as written in the file. */
function servedValue({ models, upstreamModels, discovers }: SlotConfig): unknown {
  if (discovers) return 'discover';
  return upstreamModels ? modelMap(models, upstreamModels) : models;
}

/** Map of models as written in the file. */
function modelMap(
  models: readonly string[],
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, string | true>> {
  return Object.fromEntries(models.map((model) => [model, names[model] ?? true]));
}

/** Options of an account with its kind and the hash of its code, side by side as in the file. */
function withKind(
  { kind, integrity }: Pick<AccountConfig, 'kind' | 'integrity'>,
  { raw, shown }: Value,
): Value {
  const plugin = { kind, ...(integrity !== undefined && { integrity }) };
  return { raw: { ...plugin, ...Object(raw) }, shown: { ...plugin, ...Object(shown) } };
}

/** Value of a new slot without settings of its own. */
function defaultsOf({ upstream, account }: LoadedSlotPlugins): Value {
  const slot = {};
  fillSlot(slot);
  const settings = shown(slotSettings, settled(slotSettings, slot as RawSlot)); // it has all that these read
  return objectValue({
    ...Object.fromEntries(
      Object.entries({ ...slot, ...settings }).map(([key, value]) => [key, plainValue(value, undefined)]),
    ),
    with: optionsValue(upstream.defaults, {}, upstream.schema),
    account: optionsValue(account.defaults, {}, account.schema),
  });
}

let check: ReturnType<typeof compileCheck> | undefined;

/** Fills in the defaults of a slot, by a check compiled on first use. */
function fillSlot(slot: object): void {
  check ??= compileCheck(SlotSchema, { useDefaults: true });
  check(slot);
}

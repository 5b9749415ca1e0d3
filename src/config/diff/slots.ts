import type { Backoff, Config, CooldownPolicy } from '../config.js';
import { SlotSchema } from '../slot-schema.js';
import { compileCheck } from '../../plugin/format/index.js';
import { durationText } from './durations.js';
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

/** Entries of a list as written in the file; empty where the file has none. */
export function writtenList(written: unknown, key: 'slots' | 'formats'): readonly unknown[] {
  const list = (Object(written) as Fields)[key]; // any object has properties, perhaps undefined
  return Array.isArray(list) ? list : [];
}

function slotValue(
  slot: Config['slots'][number],
  { upstream, account }: LoadedSlotPlugins,
  entry: unknown,
): Value {
  const { baseUrl, organization, maxConcurrent, weight, prices, discount, proxy, tls, headers } = slot;
  const { connectTimeoutMs, cooldown } = slot;
  const written = Object(entry) as Fields; // any object has properties, perhaps undefined
  const plain = (key: string, value: unknown) => plainValue(value, written[key]);
  return objectValue({
    upstream: plain('upstream', slot.upstream),
    with: optionsValue(upstream.options, written['with'], upstream.schema),
    baseUrl: plain('baseUrl', baseUrl),
    account: withKind(
      slot.account?.kind ?? 'none',
      optionsValue(account.options, written['account'], account.schema),
    ),
    organization: plain('organization', organization),
    models: plain('models', servedValue(slot)),
    filter: plain('filter', slot.filter),
    maxConcurrent: plain('maxConcurrent', maxConcurrent),
    weight: plain('weight', weight),
    price: plain('price', prices && pricesValue(prices)),
    discount: plain('discount', discount),
    proxy: plain('proxy', proxy),
    tls: plain('tls', tls?.shown),
    headers: optionsValue(headers, written['headers'], {}),
    connectTimeout: plain('connectTimeout', durationText(connectTimeoutMs)),
    cooldown: optionsValue(cooldownTexts(cooldown), written['cooldown'], SlotSchema.properties.cooldown),
  });
}

/** Models as they stand in the file. */
function servedValue({ models, upstreamModels, discovers }: Config['slots'][number]): unknown {
  if (discovers) return 'discover';
  return upstreamModels ? modelMap(models, upstreamModels) : models;
}

/** Prices as they stand in the file. */
function pricesValue(prices: NonNullable<Config['slots'][number]['prices']>): unknown {
  const { '*': price, ...others } = prices;
  return price && Object.keys(others).length === 0 ? price : prices;
}

/** Map of models as it stands in the file. */
function modelMap(
  models: readonly string[],
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, string | true>> {
  return Object.fromEntries(models.map((model) => [model, names[model] ?? true]));
}

/** Cooldowns as they stand in the file. */
function cooldownTexts({ maxMs, ...causes }: CooldownPolicy): Fields {
  const backoffs = Object.entries(causes).map(
    ([cause, backoff]: [string, Backoff]) =>
      [cause, { first: durationText(backoff.firstMs), max: durationText(backoff.maxMs) }] as const,
  );
  return { ...Object.fromEntries(backoffs), max: durationText(maxMs) };
}

/** Options of an account with its kind, as they stand beside each other in the file. */
function withKind(kind: string, { raw, shown }: Value): Value {
  return { raw: { kind, ...Object(raw) }, shown: { kind, ...Object(shown) } };
}

/** Value of a new slot without settings of its own. */
function defaultsOf({ upstream, account }: LoadedSlotPlugins): Value {
  const slot: Record<string, unknown> = {};
  fillSlot(slot);
  return objectValue({
    ...Object.fromEntries(Object.entries(slot).map(([key, value]) => [key, plainValue(value, undefined)])),
    with: optionsValue(upstream.defaults, {}, upstream.schema),
    account: optionsValue(account.defaults, {}, account.schema),
  });
}

let check: ReturnType<typeof compileCheck> | undefined;

/** Compiled on first use: compiling is slow. */
function fillSlot(slot: object): void {
  check ??= compileCheck(SlotSchema, { useDefaults: true });
  check(slot);
}

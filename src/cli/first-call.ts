import type { Config, SlotConfig } from '../config/config.js';
import { jsonOrText, send } from '../engine/http/connection/inner-caller.js';
import { openGateway } from '../features/open.js';
import type { Gateway } from '../gateway/gateway.js';
import { MemorySocket } from '../engine/http/connection/memory-socket.js';
import { issueKey } from '../state/keys/keys.js';
import { globMatcher, systemClock } from '../plugin/index.js';
import { untilAborted } from '../plugin/upstream/index.js';
import { isRecord } from '../kit/schema/record.js';
import { isNamed } from '../engine/slots/model-names.js';
import type { UpstreamSlot } from '../engine/slots/upstream/upstream-slot.js';
import { createLogger } from '../gateway/telemetry/logs.js';
import { messageWithout, secretsOf } from './probes.js';

/** Result of the first call of a slot. */
export interface FirstCall {
  readonly slot: string;
  /** Requested model; undefined if none is known. */
  readonly model?: string;
  readonly state: 'answered' | 'failed' | 'skipped';
  /** The result in words, without secrets. */
  readonly text: string;
}

interface FirstCallOptions {
  /** Ids of the slots to call; default: all. */
  readonly slots?: readonly string[];
  /** Models to prefer if a slot has them, in order. */
  readonly preferred?: readonly string[];
  readonly secretKey?: string | undefined;
}

/**
 * Calls each slot as its first caller would, with store and live state in memory: a Messages request through the whole
 * pipeline, for at most 16 tokens, by a model that the slot is known to have. Throws ConfigError.
 */
export async function firstCalls(
  config: Config,
  { slots: wanted, preferred = [], secretKey }: FirstCallOptions = {},
): Promise<readonly FirstCall[]> {
  const alone: Config = { ...config, store: { kind: 'memory' }, live: { kind: 'memory' } };
  const gateway = await openGateway(alone, {
    log: createLogger('silent'),
    masterKey: '',
    ...(secretKey !== undefined && { secretKey }),
    loadConfig: () => Promise.resolve(config),
  });
  try {
    const waiting = config.slots.filter(({ id }) => wanted?.includes(id) ?? true);
    const calls = new Map<string, FirstCall>();
    const left = waiting.values();
    const callEach = async () => {
      for (const slot of left) calls.set(slot.id, await firstCall(gateway, slot, preferred));
    };
    await Promise.all(Array.from({ length: atATime }, callEach));
    return waiting.flatMap(({ id }) => calls.get(id) ?? []);
  } finally {
    await gateway.close();
  }
}

const atATime = 4;
const listMs = 10_000;
const callMs = 20_000;

async function firstCall(
  gateway: Gateway,
  config: SlotConfig,
  preferred: readonly string[],
): Promise<FirstCall> {
  const { id: slot } = config;
  const opened = gateway.services.slots.opened.find(({ id }) => id === slot);
  if (!opened || opened.account.isStored)
    return { slot, state: 'skipped', text: 'not called: its tokens are in the store' };
  const fault = config.discovers ? await listFault(opened) : undefined;
  const model = modelFor(config, gateway, opened, preferred);
  if (model === undefined) {
    const why = fault === undefined ? 'none of its models are known' : errorText(fault, config);
    return { slot, state: fault === undefined ? 'skipped' : 'failed', text: why };
  }
  return { slot, model, ...(await callModel(gateway, config, model)) };
}

/** Lists the models of a slot; the error if that fails. */
async function listFault(slot: UpstreamSlot): Promise<unknown> {
  if (!slot.listsModels) return undefined;
  const signal = AbortSignal.timeout(listMs);
  return untilAborted(slot.listModels(signal), signal).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Model to ask a slot for: a preferred one, else one of the catalog, else of its own list. */
function modelFor(
  { models, discovers, upstreamModels }: SlotConfig,
  { runtime }: Gateway,
  { discovered }: UpstreamSlot,
  preferred: readonly string[],
): string | undefined {
  const catalog = runtime.models.list();
  const matches = globMatcher(models);
  const named = preferred.map((name) => runtime.models.find(name) ?? { id: name, upstreamModel: name });
  const all = [...named, ...catalog];
  const served = all.find((model) => (discovers ? discovered.serves(model) : isNamed(model, matches)));
  if (served) return served.id;
  if (discovers) {
    const ids = discovered.list.map(({ id }) => id);
    return ids.find((id) => !otherKinds.test(id)) ?? ids[0];
  }
  return [...models, ...Object.keys(upstreamModels ?? {})].find((name) => !name.includes('*'));
}

/** Names of models that do not hold conversations. */
const otherKinds =
  /embed|whisper|tts|audio|speech|voice|image|dall-e|video|sora|veo|moderation|guard|rerank|realtime|transcri|ocr|babbage|davinci/i;

async function callModel(
  gateway: Gateway,
  config: SlotConfig,
  model: string,
): Promise<Pick<FirstCall, 'state' | 'text'>> {
  const { text: key, key: record } = issueKey({ name: 'first call', slots: [config.id] }, Date.now());
  await gateway.services.store.keys.put(record);
  const [near, far] = MemorySocket.pair();
  gateway.listeners.accept(far);
  const messages = [{ role: 'user', content: 'Answer with one word: ready' }];
  const request = { path: '/v1/messages', body: { model, max_tokens: maxTokens, messages } };
  const { status, text, durationMs } = await send(
    { ...request, leave: { afterMs: callMs } },
    { 'x-api-key': key },
    near,
    systemClock,
  );
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  if (status < 400) return { state: 'answered', text: `${model} answered in ${seconds}` };
  const message =
    status === leftStatus ? `no answer within ${callMs / 1000} s` : `${status} ${messageIn(text)}`;
  const { lastError = null } = gateway.services.slots.list().find(({ id }) => id === config.id) ?? {};
  const cause = lastError === null || message.includes(lastError) ? '' : ` (${lastError})`;
  return { state: 'failed', text: errorText(`${model}: ${message}${cause}`, config) };
}

const maxTokens = 16;
/** Status of a call whose caller has disconnected. */
const leftStatus = 499;

/** Message of an error body. */
function messageIn(text: string): string {
  const body = jsonOrText(text);
  const error = isRecord(body) ? body['error'] : undefined;
  return isRecord(error) && typeof error['message'] === 'string' ? error['message'] : text;
}

function errorText(error: unknown, slot: SlotConfig): string {
  return messageWithout(secretsOf(slot), error, listMs);
}

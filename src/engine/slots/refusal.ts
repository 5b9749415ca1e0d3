import { accountRefused, type SlotState } from '../../plugin/core.js';
import { GatewayError, type Caller, type PickPolicy } from '../../plugin/index.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import type { SlotEntry, WantedModel } from './pool/slot-entry.js';

export function queueTimedOut({ id }: WantedModel, timeoutMs: number): GatewayError {
  const waited = `within ${timeoutMs / 1000} s`;
  return new GatewayError(
    'no_slot_available',
    `All slots that serve the model "${id}" are busy, and none had a free place ${waited}.`,
  );
}

export function queueFull({ id }: WantedModel): GatewayError {
  return new GatewayError(
    'no_slot_available',
    `All slots that serve the model "${id}" are busy, and too many requests are already waiting.`,
    { headers: { 'retry-after': '1' } },
  );
}

export function noSuchSlot(id: string): GatewayError {
  return new GatewayError('not_found', `Unknown slot "${id}".`);
}

export function poolClosed(): GatewayError {
  return new GatewayError('shutting_down', 'The gateway is shutting down.');
}

/**
 * Error if no slot can be used: none serves the model (404), all are used up or have named a long wait (429), or all
 * are closed until an operator acts (503).
 */
export function nothingToAsk(
  model: WantedModel,
  entries: readonly SlotEntry[],
  nowMs: number,
  notServed: (model: WantedModel) => GatewayError,
): GatewayError {
  const serving = entries.filter((entry) => entry.serves(model));
  if (serving.length === 0) return notServed(model);
  const [first] = serving
    .flatMap((entry) => entry.cooldownFor(model, nowMs) ?? [])
    .toSorted((a, b) => a.untilMs - b.untilMs);
  if (first)
    return (first.reason === 'rate_limited' ? longWait : windowExhausted)(model, first.untilMs, nowMs);
  return unavailable(model, serving, nowMs);
}

/** Error for a model that no slot serves; `served` are the names of those that slots serve. */
export function modelNotFound({ id }: WantedModel, served: readonly string[] = []): GatewayError {
  const meant = didYouMean(id.slice(0, maxComparedLength), served);
  const list = 'GET /v1/models lists the available ones';
  const cure = meant === undefined ? list : `did you mean "${meant}"? ${list}`;
  return new GatewayError('model_not_found', `No slot serves the model "${id}"; ${cure}.`);
}

/** Max length of a model name to compare, as long ones are slow. */
const maxComparedLength = 200;

/** Error for a model served only outside the stage's `slots`. */
export function noSlotOfThese({ id }: WantedModel, slots: readonly string[]): GatewayError {
  const names = slots.map((slot) => JSON.stringify(slot)).join(', ');
  return new GatewayError('model_not_found', `No slot of ${names} serves the model "${id}".`, {
    callersMessage: `No slot that may be used here serves the model "${id}".`,
  });
}

/** Error for a model served only outside the key's slots. */
export function keyHasNoSlot({ id }: WantedModel, { name }: Caller): GatewayError {
  const key = JSON.stringify(name);
  return new GatewayError('forbidden', `The key ${key} may not use any slot that serves the model "${id}".`);
}

/** Error for a model whose cost a budget could not count at any slot. */
export function noKnownCost(
  { id }: WantedModel,
  { name, team }: Caller,
  missing: readonly string[],
): GatewayError {
  const of = team?.limits ? ` or its team ${JSON.stringify(team.name)}` : '';
  const holder = `The key ${JSON.stringify(name)}${of} has a budget`;
  const cure = `the operator can add ${missing.join(', ')} to its \`price\` in models.yaml, or at a slot`;
  return new GatewayError('forbidden', `${holder}, and the model "${id}" has no known cost: ${cure}.`);
}

/** Error for a call that the policy has picked no slot for. */
export function declined({ id }: WantedModel, policy: PickPolicy): GatewayError {
  const name = JSON.stringify(policy.name || 'unnamed');
  return new GatewayError('no_slot_available', `The policy ${name} picked no slot for the model "${id}".`);
}

function windowExhausted({ id }: WantedModel, resetMs: number, nowMs: number): GatewayError {
  const until = new Date(resetMs).toISOString();
  return limitedFor(
    resetMs - nowMs,
    `The usage window of every slot that serves the model "${id}" is used up until ${until}.`,
  );
}

function longWait({ id }: WantedModel, resetMs: number, nowMs: number): GatewayError {
  const until = new Date(resetMs).toISOString();
  return limitedFor(resetMs - nowMs, `The provider of the model "${id}" limits its requests until ${until}.`);
}

function limitedFor(leftMs: number, message: string): GatewayError {
  const headers = { 'retry-after': String(Math.ceil(leftMs / 1000)) };
  return new GatewayError('rate_limited', message, { headers });
}

function unavailable({ id }: WantedModel, serving: readonly SlotEntry[], nowMs: number): GatewayError {
  const states = serving.map((entry) => entry.state(nowMs));
  const why = serving.map((entry, at) => `"${entry.id}" ${explanations[states[at] ?? 'ready']}`);
  const message = `No slot that serves the model "${id}" takes requests`;
  const isRefused = states.every((state) => state === 'rejected');
  return new GatewayError('no_slot_available', `${message}: ${why.join('; ')}.`, {
    callersMessage: isRefused ? accountRefused : `${message}; tell the gateway's operator.`,
    headers: isRefused ? { 'x-should-retry': 'false' } : {},
  });
}

const explanations: Readonly<Record<SlotState, string>> = {
  ready: 'has failed',
  cooling: 'is cooling down',
  rejected:
    "is rejected (its upstream refuses the account's credential; the operator can fix it and resume the slot)",
  paused: 'is paused (the operator can resume it)',
  draining: 'is draining (the operator can resume it)',
};

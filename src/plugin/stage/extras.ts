import type { Loss } from '../contract/loss.js';
import type { MessagesRequest } from '../contract/messages.js';
import type { SlotCall } from '../contract/slot/slot.js';

/**
 * Fields of a caller that have no name in Messages, under their names in Chat Completions: `seed`, `logit_bias`; of a
 * block, those of its original message: `name`. Each upstream kind writes those that it supports, and reports the
 * others.
 */
export type Extras = Readonly<Record<string, unknown>>;

/** Property of a request or a block: copies have it, rebuilt ones do not, JSON does not show it. */
const extras = Symbol.for('gw2api.extras');

interface MaybeExtras {
  readonly [extras]?: Extras;
}

const none: Extras = Object.freeze({});

/** Extras of a request or a block; none if it has no such property. */
export function extrasOf(part: object): Extras {
  return (part as MaybeExtras)[extras] ?? none; // any object may have the symbol
}

/** Copy of a request or a block with these extras instead of its own. */
export function withExtras<Part extends object>(part: Part, given: Extras): Part {
  const copy: Part & { [extras]?: Extras } = { ...part };
  if (Object.keys(given).length > 0) copy[extras] = given;
  else delete copy[extras];
  return copy;
}

/** Extras with the path of their owner; empty for the request itself. */
export interface PlacedExtras {
  readonly place: string;
  readonly extras: Extras;
}

/** All extras of a request: its own first, then those of its blocks. */
export function allExtras(request: Pick<MessagesRequest, 'messages' | 'system'>): readonly PlacedExtras[] {
  const found: PlacedExtras[] = [];
  const add = (part: unknown, place: () => string): void => {
    const own = typeof part === 'object' && part !== null ? extrasOf(part) : none;
    if (own !== none) found.push({ place: place(), extras: own });
  };
  add(request, () => '');
  listOf(request.system).forEach((block, at) => add(block, () => `system[${at}]`));
  listOf(request.messages).forEach((message, at) => {
    const { content } = Object(message) as { readonly content?: unknown }; // nobody has checked it
    listOf(content).forEach((block, nth) => add(block, () => `messages[${at}].content[${nth}]`));
  });
  return found;
}

/** Copy of a request with extras in the places that `allExtras` has named. */
export function withAllExtras(request: MessagesRequest, placed: readonly PlacedExtras[]): MessagesRequest {
  if (placed.length === 0) return request;
  const known = new Map(placed.map(({ place, extras }) => [place, extras]));
  const give = <Part extends object>(part: Part, place: string): Part => {
    const own = known.get(place);
    return own ? withExtras(part, own) : part;
  };
  const { system, messages } = request;
  const copy: MessagesRequest = {
    ...request,
    ...(Array.isArray(system) && { system: system.map((block, at) => give(block, `system[${at}]`)) }),
    messages: messages.map(({ content, ...message }, at) => ({
      ...message,
      content: Array.isArray(content)
        ? content.map((block, nth) => give(block, `messages[${at}].content[${nth}]`))
        : content,
    })),
  };
  return give(copy, '');
}

/** Path of an extra in a loss: `extras.seed`, `messages[0].content[1].extras.name`. */
export function extraPath(name: string, place = ''): string {
  return place === '' ? `extras.${name}` : `${place}.extras.${name}`;
}

/** Place and name of the extra that a loss is about; undefined for a loss of something else. */
export function extraOfPath(path: string): { readonly place: string; readonly name: string } | undefined {
  const [, place = '', name] =
    /^(?:((?:system|messages\[\d+\]\.content)\[\d+\])\.)?extras\.(.+)$/s.exec(path) ?? [];
  return name === undefined ? undefined : { place, name };
}

/**
 * Losses of a call to a kind without extras: all but `prompt_cache_key`, which names the session here, so that its
 * cache is kept by a slot and markers.
 */
export function extraLosses({
  request,
  isTranslated,
}: Pick<SlotCall, 'request' | 'isTranslated'>): readonly Loss[] {
  if (isTranslated === false) return []; // Messages callers have none
  const losses = allExtras(request).flatMap(lossesOf);
  return losses.filter(({ path }) => path !== extraPath('prompt_cache_key'));
}

/** Losses of extras whose blocks have no place for them; those of the request itself are left to its kind. */
export function blockExtraLosses(request: MessagesRequest): readonly Loss[] {
  return allExtras(request).flatMap((placed) => (placed.place === '' ? [] : lossesOf(placed)));
}

function lossesOf({ place, extras }: PlacedExtras): readonly Loss[] {
  return Object.keys(extras).map((name) => ({ path: extraPath(name, place), kind: extraKind(name) }));
}

/** Kind of the loss of an extra: hints for a cache or an abuse monitor do not change the meaning. */
export function extraKind(name: string): Loss['kind'] {
  return hints.has(name) ? 'mend' : 'setting';
}

const hints: ReadonlySet<string> = new Set([
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
]);

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

import type { Message, MessagesRequest } from '../../contract/messages.js';
import { withFields } from '../../raw/with-fields.js';
import { allExtras, extrasOf, withExtras, type Extras, type PlacedExtras } from '../../stage/extras.js';
import { merged } from './merge.js';

/**
 * The request with these extras, and no others but its prediction; all parts whose extras stay are the same objects.
 * Throws a TypeError for a place that the request does not have.
 */
export function withChangedExtras(
  request: MessagesRequest,
  placed: readonly PlacedExtras[],
): MessagesRequest {
  const changes = changesOf(request, placed);
  if (changes.size === 0) return request;
  const give = <Part extends object>(part: Part, place: string): Part => {
    const next = changes.get(place);
    return next && changes.delete(place) ? withExtras(part, next) : part;
  };
  const { system, messages } = request;
  const changed = withFields(request, {
    ...(Array.isArray(system) && { system: mapped(system, (block, at) => give(block, `system[${at}]`)) }),
    messages: mapped(messages, (message, at) => withBlocks(message, `messages[${at}]`, give)),
  });
  const { prediction } = extrasOf(request);
  const own = changes.get('');
  changes.delete('');
  const [missing] = changes.keys();
  if (missing !== undefined)
    throw new TypeError(`extras: ${JSON.stringify(missing.slice(0, 100))} is not a place of the request`);
  return own ? withExtras(changed, prediction === undefined ? own : { prediction, ...own }) : changed;
}

/** New extras by place, for places where they differ. */
function changesOf(request: MessagesRequest, placed: readonly PlacedExtras[]): Map<string, Extras> {
  const before = new Map(allExtras(request).map(({ place, extras }) => [place, extras]));
  const after = new Map(placed.map(({ place, extras }) => [place, extras]));
  const changes = new Map<string, Extras>();
  for (const place of new Set([...before.keys(), ...after.keys()])) {
    const live = withoutPrediction(before.get(place) ?? {});
    const next = merged(live, withoutPrediction(after.get(place) ?? {})) as Extras; // merged objects
    if (next !== live) changes.set(place, next);
  }
  return changes;
}

function withoutPrediction({ prediction: _, ...others }: Extras): Extras {
  return others;
}

function withBlocks(
  message: Message,
  place: string,
  give: <Part extends object>(part: Part, place: string) => Part,
): Message {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const blocks = mapped(content, (block: object, at) => give(block, `${place}.content[${at}]`));
  return blocks === content ? message : withFields(message, { content: blocks as Message['content'] }); // the same blocks
}

/** The list itself if no item changes. */
function mapped<Item>(list: readonly Item[], map: (item: Item, at: number) => Item): readonly Item[] {
  const items = list.map(map);
  return items.every((item, at) => item === list[at]) ? list : items;
}

import { isGatewayError } from '../../contract/error.js';
import { ModelEvent } from '../../events/events.js';
import { isSame } from './merge.js';

/** JSON of events for a question. Throws `upstream_interrupted` for one that is not valid. */
export function eventsJson(events: readonly ModelEvent[]): string {
  return `[${events.map(eventJson).join()}]`;
}

function eventJson(event: ModelEvent): string {
  const { json } = event; // validates the text
  return event.delta ? JSON.stringify(json) : event.data;
}

/**
 * Events of a reply in place of others: equal ones at both ends are the same objects, with their text. Throws a
 * TypeError for one that is not a valid event.
 */
export function changedEvents(live: readonly ModelEvent[], next: readonly object[]): readonly ModelEvent[] {
  const shorter = Math.min(live.length, next.length);
  let start = 0;
  while (start < shorter && isSame(live[start]?.json, next[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(live.at(-1 - end)?.json, next.at(-1 - end))) end += 1;
  const choice = live[0]?.choice ?? 0;
  const made = next
    .slice(start, next.length - end)
    .map((event, at) => checkedEvent(event, start + at).withChoice(choice));
  return [...live.slice(0, start), ...made, ...live.slice(live.length - end)];
}

function checkedEvent(event: object, at: number): ModelEvent {
  const { type } = event as { readonly type?: unknown }; // any object may be read by name
  if (typeof type !== 'string' || type === 'error')
    throw new TypeError(`events[${at}].type: must be the name of an event other than error`);
  const made = new ModelEvent(type, JSON.stringify(event));
  try {
    return made.json && made;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    throw new TypeError(`events[${at}]: is not a valid ${type}`, { cause: error });
  }
}

import * as fc from 'fast-check';
import { answers } from '../../../plugins/formats/generated.js';
import { mutatedJson, mutations } from './mutations.js';

interface Sent {
  readonly event: string;
  readonly data: string;
}

/** Makes something else of the events of a stream, at a place. */
type Damage = (events: readonly Sent[], place: number) => readonly Sent[];

const drop: Damage = (events, place) => events.toSpliced(place, 1);
const duplicate: Damage = (events, place) => events.toSpliced(place, 0, events[place]!);
const swap: Damage = (events, place) =>
  events.toSpliced(place, 2, ...events.slice(place, place + 2).toReversed());
const cutOff: Damage = (events, place) => events.slice(0, place);
const restart: Damage = (events, place) => events.toSpliced(place, 0, ...events);

const odd: readonly string[] = [
  '',
  'oops',
  '{',
  'null',
  '[]',
  '"x"',
  '7',
  '{}',
  '[DONE]',
  '{"type":"message_stop"}',
  '{"type":"error"}',
  '{"type":"error","error":null}',
  '{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}',
  '{"error":"No."}',
];

const damages: fc.Arbitrary<Damage> = fc.oneof(
  fc.constantFrom(drop, duplicate, swap, cutOff, restart),
  fc.constantFrom(...odd).map(
    (data): Damage =>
      (events, place) =>
        put(events, place, { data }),
  ),
  fc.constantFrom('message_start', 'message_stop', 'content_block_delta', 'error', 'ping', 'news', '').map(
    (event): Damage =>
      (events, place) =>
        put(events, place, { event }),
  ),
  { weight: 4, arbitrary: mutations.map(mutate) },
);

function put(events: readonly Sent[], place: number, part: Partial<Sent>): readonly Sent[] {
  return events.with(place, { ...events[place]!, ...part });
}

/** Some of the fields of one event are not what they should be. */
function mutate(changes: Parameters<typeof mutatedJson>[1]): Damage {
  return (events, place) => {
    const { data } = events[place]!;
    if (!data.startsWith('{"') || data.length > 10_000) return events;
    return put(events, place, { data: mutatedJson(JSON.parse(data), changes) });
  };
}

const places = fc.array(fc.tuple(damages, fc.nat()), { minLength: 1, maxLength: 3 });

/** Streams that were once valid, as pieces of bytes. */
export const brokenStreams: fc.Arbitrary<readonly string[]> = fc
  .tuple(answers, places, fc.boolean())
  .map(([answer, damages, isInPieces]) => {
    const events = damages.reduce<readonly Sent[]>(
      (events, [damage, place]) => (events.length === 0 ? events : damage(events, place % events.length)),
      answer.map(({ type, data }) => ({ event: type, data })),
    );
    const texts = events.map(({ event, data }) => `${event && `event: ${event}\n`}data: ${data}\n\n`);
    return isInPieces ? texts : [texts.join('')];
  });

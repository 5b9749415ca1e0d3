import type { MessagesStreamEvent } from '@gw2api/gateway/plugin';
import { numberOf, type Scenario } from './marker.js';

/** Next step of the simulator in an answer that has begun. */
export type Step =
  | { readonly do: 'send'; readonly event: MessagesStreamEvent }
  /** An event whose data is not JSON. */
  | { readonly do: 'garble' }
  | { readonly do: 'pause'; readonly ms: number }
  /** No further bytes, with the connection open. */
  | { readonly do: 'stall' }
  /** Destroyed socket. */
  | { readonly do: 'cut' }
  /** End of the body, as if it were complete. */
  | { readonly do: 'end' };

interface StreamScenario {
  readonly help: string;
  readonly change: (steps: Iterable<Step>, params: Scenario['params']) => Iterable<Step>;
}

/** Scenarios that change the course of an answer, applied in the order of the message. */
export const streamScenarios: Readonly<Record<string, StreamScenario>> = {
  slow: {
    help: 'ms=20: a pause after each event; ms=0: each event in a write of its own',
    change: (steps, params) => slowed(steps, numberOf(params, 'ms', 20)),
  },
  stall: {
    help: 'after=0: silence after that many events, the connection stays open',
    change: (steps, params) => endedAfter(steps, numberOf(params, 'after', 0), { do: 'stall' }),
  },
  cut: {
    help: 'after=5: the socket is destroyed after that many events',
    change: (steps, params) => endedAfter(steps, numberOf(params, 'after', 5), { do: 'cut' }),
  },
  end: {
    help: 'after=5: a clean end after that many events, without message_stop',
    change: (steps, params) => endedAfter(steps, numberOf(params, 'after', 5), { do: 'end' }),
  },
  error: {
    help: 'after=5 type=overloaded_error message="…": an error event after that many events',
    change: (steps, params) =>
      endedAfter(steps, numberOf(params, 'after', 5), { do: 'send', event: errorEvent(params) }),
  },
  'not-json': {
    help: 'after=3: then one event whose data is not JSON',
    change: (steps, params) => withGarbage(steps, numberOf(params, 'after', 3)),
  },
  empty: { help: 'only message_start and message_stop', change: emptied },
  'double-start': { help: 'a second message_start after the first events', change: startedTwice },
  'unknown-events': {
    help: 'unknown event, block and delta types among the others',
    change: withUnknown,
  },
};

/** The steps of an answer under these scenarios; without any, its events one after another. */
export function stepsOf(
  events: Iterable<MessagesStreamEvent>,
  scenarios: readonly Scenario[],
): Iterable<Step> {
  return scenarios.reduce<Iterable<Step>>(
    (steps, { name, params }) =>
      Object.hasOwn(streamScenarios, name) ? (streamScenarios[name]?.change(steps, params) ?? steps) : steps,
    sent(events),
  );
}

function* sent(events: Iterable<MessagesStreamEvent>): Generator<Step> {
  for (const event of events) yield { do: 'send', event };
}

function* slowed(steps: Iterable<Step>, ms: number): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.do === 'send') yield { do: 'pause', ms };
  }
}

function* endedAfter(steps: Iterable<Step>, count: number, last: Step): Generator<Step> {
  let seen = 0;
  for (const step of steps) {
    if (seen === count) break;
    if (step.do === 'send') seen += 1;
    yield step;
  }
  yield last;
}

function* withGarbage(steps: Iterable<Step>, after: number): Generator<Step> {
  let seen = 0;
  for (const step of steps) {
    if (seen === after) yield { do: 'garble' };
    seen += 1;
    yield step;
  }
}

function* emptied(steps: Iterable<Step>): Generator<Step> {
  for (const step of steps)
    if (step.do === 'send' && ['message_start', 'message_stop'].includes(step.event.type)) yield step;
}

function* startedTwice(steps: Iterable<Step>): Generator<Step> {
  let start: Step | undefined;
  let deltas = 0;
  for (const step of steps) {
    yield step;
    if (step.do !== 'send') continue;
    if (step.event.type === 'message_start') start = step;
    if (step.event.type === 'content_block_delta') deltas += 1;
    if (start && deltas === 2 && step.event.type === 'content_block_delta') yield start;
  }
}

function* withUnknown(steps: Iterable<Step>): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.do !== 'send') continue;
    if (step.event.type === 'message_start')
      yield unknown({ type: 'future_event', note: 'of a later version' });
    if (step.event.type === 'content_block_start')
      yield unknown({
        type: 'content_block_delta',
        index: step.event.index,
        delta: { type: 'future_delta', note: 'of a later version' },
      });
  }
}

/** An event of a type unknown to the gateway, which is the purpose of the scenario. */
function unknown(event: object): Step {
  return { do: 'send', event: event as MessagesStreamEvent };
}

function errorEvent({
  type = 'overloaded_error',
  message = 'Overloaded',
}: Scenario['params']): MessagesStreamEvent {
  return { type: 'error', error: { type, message } };
}

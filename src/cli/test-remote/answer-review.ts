import { ModelEvent, type MessagesStreamEvent } from '../../plugin/index.js';
import { AnswerGrammar, changedEvents } from '../../plugin/remote/index.js';
import { asError } from '../../kit/time/within.js';
import { CheckFailure } from './check-failure.js';
import { eventsQuestion } from './questions.js';
import type { RemoteServer } from './remote-server.js';

/** Outcome of an answer whose events a server has reviewed. */
export interface ReviewedAnswer {
  readonly isRefused: boolean;
  /** Text, thinking and tool inputs that passed on, by block. */
  readonly texts: readonly string[];
}

/**
 * Asks about an answer in chunks of events, as a gateway does: held events come again before the new ones, and each
 * state goes back. Throws a CheckFailure for replies after which a gateway would fail.
 */
export async function review(
  server: RemoteServer,
  chunks: readonly (readonly object[])[],
): Promise<ReviewedAnswer> {
  const first = eventsQuestion();
  const grammar = new AnswerGrammar();
  const passed: ModelEvent[] = [];
  let held: readonly object[] = [];
  let { state } = first;
  for (const [seq, chunk] of chunks.entries()) {
    const { request, ...later } = first;
    const events = [...held, ...chunk];
    const last = seq === chunks.length - 1;
    const reply = await server.ask({ ...later, ...(seq === 0 && { request }), seq, events, last, state });
    if (reply.verdict === 'refuse') return { isRefused: true, texts: [] };
    held = reply.verdict === 'hold' ? events : [];
    checkHeld(held, last);
    state = reply.state ?? null;
    const next = reply.verdict === 'hold' ? [] : nextEvents(events, reply);
    for (const event of next) pass(event, grammar);
    passed.push(...next);
  }
  checkEnd(chunks.at(-1), passed.at(-1));
  return { isRefused: false, texts: textsOf(passed) };
}

/** Default of the stage's option `hold`. */
const maxHeldBytes = 64 * 1024;

function checkHeld(held: readonly object[], isLast: boolean): void {
  if (held.length > 0 && isLast) throw new CheckFailure('it held the last events of an answer');
  const bytes = Buffer.byteLength(JSON.stringify(held));
  if (bytes > maxHeldBytes) throw new CheckFailure(`it held ${bytes} bytes of events, more than 64 kB`);
}

function nextEvents(
  events: readonly object[],
  reply: { readonly verdict: string; readonly events?: readonly object[] },
): readonly ModelEvent[] {
  const live = events.map((event) => ModelEvent.of(event as MessagesStreamEvent)); // events of ours
  if (reply.verdict !== 'change' || !reply.events) return live;
  try {
    return changedEvents(live, reply.events);
  } catch (error) {
    throw new CheckFailure(`its change is not valid: ${asError(error).message}`, { cause: error });
  }
}

function pass(event: ModelEvent, grammar: AnswerGrammar): void {
  const fault = grammar.add(event);
  if (fault !== undefined) throw new CheckFailure(`its events are not an answer: ${fault}`);
}

/** An answer that was whole ends as before. */
function checkEnd(chunk: readonly object[] = [], last: ModelEvent | undefined): void {
  const { type } = { type: undefined, ...chunk.at(-1) } as { readonly type: unknown };
  if (type === 'message_stop' && last?.type !== type)
    throw new CheckFailure('its events are not an answer: message_stop is missing');
}

function textsOf(events: readonly ModelEvent[]): readonly string[] {
  const texts: string[] = [];
  for (const { json } of events) {
    if (json.type !== 'content_block_delta') continue;
    const { text, partial_json, thinking } = json.delta as Readonly<Record<string, unknown>>; // one of them
    const output = [text, partial_json, thinking].find((each) => typeof each === 'string');
    texts[json.index] = (texts[json.index] ?? '') + (output ?? '');
  }
  return texts;
}

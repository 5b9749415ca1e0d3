import type { Ask } from '../workloads.js';
import { agentTools, agentSystem, agentTurn } from './agent.js';

/** Length of a session's conversation: that of an agent, or of a chat that has just begun. */
export type SessionKind = 'agent' | 'small';

/** Number of sessions that take turns. */
const sessions = 200;

/** Place of a request in its session. */
interface Place {
  readonly session: number;
  /** Conversations that the session has ended before. */
  readonly conversation: number;
  /** Turns that the conversation has had before. */
  readonly turn: number;
}

/**
 * Body of the request with this number. Each turn of a session repeats the one before and adds two messages; no text
 * is that of another session or of an earlier conversation.
 */
export function sessionBody({ sessions: kind = 'small', isStream, script }: Ask, number: number): string {
  const { turns, write } = kinds[kind];
  const place = placeOf(number, turns);
  return JSON.stringify({ model: script, stream: isStream, max_tokens: 1000, ...write(place) });
}

interface Kind {
  /** Turns of a conversation; then the session begins another one. */
  readonly turns: number;
  readonly write: (place: Place) => object;
}

const kinds: Readonly<Record<SessionKind, Kind>> = {
  agent: { turns: 15, write: agentRequest },
  small: { turns: 5, write: smallRequest },
};

/** Sessions are at different turns, so that all rounds have requests of the same sizes. */
function placeOf(number: number, turns: number): Place {
  const session = number % sessions;
  const step = Math.floor(number / sessions) + session;
  return { session, conversation: Math.floor(step / turns), turn: step % turns };
}

/** Messages of an agent's first turn that is measured: with half of the others they are 81. */
const agentStart = 67;

function agentRequest(place: Place): object {
  const count = agentStart + 2 * place.turn;
  return {
    system: agentSystem(`session ${place.session}`),
    tools: agentTools(`session ${place.session}`),
    metadata: { user_id: userOf(place) },
    messages: Array.from({ length: count }, (_, at) => agentTurn(nameOf(place), at, at >= count - 3)),
  };
}

function smallRequest(place: Place): object {
  const messages = Array.from({ length: 1 + 2 * place.turn }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Tell me something: ${nameOf(place)}, message ${at}.`,
  }));
  return { metadata: { user_id: userOf(place) }, messages };
}

function nameOf({ session, conversation }: Place): string {
  return `session ${session}, conversation ${conversation}`;
}

/** Name of a session, in the form in which agents send it. */
function userOf({ session }: Place): string {
  return `user_${'0123456789abcdef'.repeat(4)}_account__session_${String(session).padStart(12, '0')}`;
}

import type { ModelReply } from '../contract/state.js';
import { EventStream } from '../events/stream/event-stream.js';

/** Checks the reply of an interceptor. Throws a TypeError that names the field. */
export function checkReply(reply: unknown): ModelReply {
  if (typeof reply !== 'object' || reply === null)
    throw wrongReply(
      `intercept returned ${String(reply)} instead of a reply; it must return the reply of call(), or textReply(…)`,
    );
  for (const [field, { holds, is }] of Object.entries(fields)) {
    const value = (reply as Readonly<Record<string, unknown>>)[field];
    if (!holds(value)) throw wrongReply(`intercept returned a reply whose ${field} is not ${is}`);
  }
  return reply as ModelReply; // its fields have just been checked
}

/** Error without frames: the interceptor has returned, so they would name the modules around it and never its own. */
function wrongReply(message: string): TypeError {
  const error = new TypeError(message);
  error.stack = `TypeError: ${message}`;
  return error;
}

interface Field {
  readonly holds: (value: unknown) => boolean;
  readonly is: string;
}

const fields: Readonly<Record<keyof ModelReply, Field>> = {
  status: { holds: (value) => Number.isInteger(value), is: 'an HTTP status' },
  headers: { holds: isTexts, is: 'an object of texts' },
  model: { holds: (value) => typeof value === 'string', is: "the name of a model, or ''" },
  upstreamModel: {
    holds: (value) => value === undefined || typeof value === 'string',
    is: 'the name of a model',
  },
  slot: { holds: (value) => value === undefined || typeof value === 'string', is: 'the id of a slot' },
  attempts: { holds: (value) => Number.isInteger(value) && Number(value) >= 0, is: 'a number of calls' },
  events: { holds: isStream, is: 'an EventStream; EventStream.from(…) makes one from a generator' },
  calls: { holds: (value) => value === undefined || typeof value === 'function', is: 'a function' },
  leftOut: { holds: (value) => value === undefined || Array.isArray(value), is: 'a list of tools' },
  addedTokens: {
    holds: (value) => value === undefined || (Number.isInteger(value) && Number(value) >= 0),
    is: 'a number of tokens',
  },
};

function isTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((text) => typeof text === 'string');
}

/** True also for a stream of another copy of this package. */
function isStream(value: unknown): boolean {
  if (value instanceof EventStream) return true;
  return typeof value === 'object' && value !== null && 'through' in value && 'pipe' in value;
}

import { changedError, type GatewayError } from '../../contract/error.js';
import { ModelEvent } from '../events.js';

/** Replaces the secrets in a text. */
export type HideSecrets = (text: string) => string;

/** The error without secrets in the parts that a caller receives; the same one if it has none. */
export function errorWithout(error: GatewayError, hide: HideSecrets): GatewayError {
  const { code, message, callersMessage, type, param, headers, details } = error;
  const sent = { code, message, callersMessage, type, param, headers, details };
  const hidden = valueWithout(sent, hide);
  return hidden === sent ? error : changedError(error, { ...hidden, cause: error.cause ?? error });
}

/** The event without secrets; the same one if it has none. */
export function eventWithout(event: ModelEvent, hide: HideSecrets): ModelEvent {
  const hidden = valueWithout(event.json, hide);
  return hidden === event.json ? event : ModelEvent.of(hidden, event.choice);
}

/** Copy of a JSON value without secrets in its texts and names; the same one if it has none, or is not JSON. */
function valueWithout<Value>(value: Value, hide: HideSecrets): Value {
  let isChanged = false;
  const hidden = (text: string): string => {
    const masked = hide(text);
    isChanged ||= masked !== text;
    return masked;
  };
  try {
    const text = JSON.stringify(value, (_, each: unknown) => partWithout(each, hidden));
    return isChanged ? (JSON.parse(text) as Value) : value; // the same shape with other texts
  } catch {
    return value; // a plugin's details that are not JSON: the error cannot be sent
  }
}

function partWithout(part: unknown, hide: HideSecrets): unknown {
  if (typeof part === 'string') return hide(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [hide(name), value]));
}

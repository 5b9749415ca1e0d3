import { finishedMembers, isTooDeep, keepInput } from '@gw2api/gateway/plugin/format';
import { invalidField, isRecord } from '../body.js';
import type { UnsupportedFields } from '../unread/unsupported-fields.js';

/**
 * Parses a tool call's input from the JSON text of other formats: blank text and `null` are `{}`, a text cut within it
 * keeps its finished members, which is reported, and numbers that would change are kept beside the input. Throws
 * `invalid_request` at `path` for any other value than an object.
 */
export function parseArguments(
  text: unknown,
  path: string,
  dropped: UnsupportedFields,
): Readonly<Record<string, unknown>> {
  const input = (typeof text === 'string' ? parseJson(text, path, dropped) : text) ?? {};
  if (!isRecord(input)) throw invalidField(path, 'must be the JSON text of an object');
  return input;
}

function parseJson(text: string, path: string, dropped: UnsupportedFields): unknown {
  if (text.trim() === '') return {};
  const value = valueOf(text);
  if (value === undefined) {
    dropped.add(path);
    return finishedMembers(text);
  }
  if (isTooDeep(value, text)) throw invalidField(path, 'is nested too deeply');
  keepInput(value, text);
  return value;
}

/** Undefined for a text that is not JSON. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut by `max_tokens`
  }
}

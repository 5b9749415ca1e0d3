import { isTooDeep } from 'gw2api/plugin/format';
import { invalidField, isRecord } from './body.js';

/**
 * Parses a tool call's input from the JSON text of other formats; `""` is `{}`. Throws `invalid_request` at
 * `path` for anything but a JSON object.
 */
export function parseArguments(text: unknown, path: string): Readonly<Record<string, unknown>> {
  const input = typeof text === 'string' ? parseJson(text, path) : (text ?? {});
  if (!isRecord(input)) throw invalidField(path, 'must be the JSON text of an object');
  return input;
}

function parseJson(text: string, path: string): unknown {
  if (text.trim() === '') return {};
  const value = valueOf(text, path);
  if (isTooDeep(value, text)) throw invalidField(path, 'must not be nested that deeply');
  return value;
}

function valueOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField(path, 'must be JSON, which this text is not');
  }
}

import { invalidField, isRecord } from './body.js';

/**
 * The input of a tool call from the JSON text that the other formats write; `""` is `{}`. Throws `invalid_request` at `path`
 * for anything but a JSON object.
 */
export function parseArguments(text: unknown, path: string): Readonly<Record<string, unknown>> {
  const input = typeof text === 'string' ? parseJson(text, path) : (text ?? {});
  if (!isRecord(input)) throw invalidField(path, 'must be the JSON text of an object');
  return input;
}

function parseJson(text: string, path: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField(path, 'must be JSON, which this text is not');
  }
}

import type { StopReason } from '../contract/messages.js';
import { isTooDeep } from '../http/parse-json.js';
import { keepInput } from '../inputs/kept-inputs.js';

/** Input of a tool call, read from its JSON text. */
export interface ToolInput {
  readonly input: unknown;
  /** True if the text is not complete JSON: the answer ended within the call. */
  readonly isCut: boolean;
}

/**
 * Reads the JSON text of a tool's input: blank text and `null` are `{}`; a text that is cut, or nested too deeply to be
 * serialized again, is reduced to its finished members. Numbers that would change are kept beside it.
 */
export function toolInput(json: string): ToolInput {
  if (json.trim() === '') return { input: {}, isCut: false };
  try {
    const input: unknown = JSON.parse(json);
    if (isTooDeep(input, json)) return { input: {}, isCut: true };
    keepInput(input, json);
    return { input: input ?? {}, isCut: false };
  } catch {
    return { input: finishedMembers(json), isCut: true };
  }
}

/** True if a call with this text of its arguments must not run: a partial command may have another meaning. */
export function isCutInput(json: string): boolean {
  if (json.trim() === '') return false;
  try {
    return isTooDeep(JSON.parse(json), json);
  } catch {
    return true;
  }
}

/** Stop reason of an answer with a cut call, which is incomplete even if the upstream reports otherwise. */
export function cutStopReason(reason: StopReason | null): StopReason {
  return reason !== null && unfinished.has(reason) ? reason : 'max_tokens';
}

const unfinished: ReadonlySet<StopReason> = new Set([
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
  'pause_turn',
]);

/**
 * Members of a cut JSON object whose values are complete, in linear time: `{"a":1,"b":"tex` gives `{"a":1}`. An
 * unfinished string, number or nested value is left out whole.
 */
export function finishedMembers(json: string): Readonly<Record<string, unknown>> {
  const end = lastMemberEnd(json);
  if (end === undefined) return {};
  const text = `${json.slice(0, end)}}`;
  try {
    const members: unknown = JSON.parse(text);
    const isObject = typeof members === 'object' && members !== null && !Array.isArray(members);
    if (!isObject || isTooDeep(members, text)) return {};
    keepInput(members, text);
    return members as Record<string, unknown>; // an object of JSON may be read by name
  } catch {
    return {}; // broken before its end, rather than cut
  }
}

/** End of the last complete member of the object that begins the text. */
function lastMemberEnd(json: string): number | undefined {
  let end: number | undefined;
  let depth = 0;
  let isValue = false;
  for (let at = 0; at < json.length;) {
    const first = json.charAt(at);
    const next = tokenEnd(json, at);
    if (next === -1) return end;
    if (first === '{' || first === '[') depth += 1;
    else if (first === '}' || first === ']') depth -= 1;
    if (depth === 1) {
      if (first === ':') isValue = true;
      else if (first === ',') {
        end = at;
        isValue = false;
      } else if (isValue && endsValue.has(first)) end = next;
    }
    at = next;
  }
  return end;
}

/** First characters of the tokens that end a value by themselves; a number may continue. */
const endsValue: ReadonlySet<string> = new Set(['"', '}', ']', 't', 'f', 'n']);

/** End of a string, a literal, or one character of anything else; -1 for one that is cut. */
function tokenEnd(json: string, at: number): number {
  const first = json.charAt(at);
  if (first === '"') return stringEnd(json, at + 1);
  const literal = literals[first];
  if (literal === undefined) return at + 1;
  return json.startsWith(literal, at) ? at + literal.length : -1;
}

const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

function stringEnd(json: string, from: number): number {
  for (let at = from; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return -1;
}

const quote = 0x22;
const backslash = 0x5c;

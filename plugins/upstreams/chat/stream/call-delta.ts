import { inputJson, isTooDeep, keepArguments } from '@gw2api/gateway/plugin/upstream';
import { fieldsOf, textOf } from '../../shared/fields.js';
import { malformed } from '../../shared/openai/openai-stream-error.js';

/** Piece of a tool call. */
export interface CallDelta {
  readonly id: string;
  readonly index: number | undefined;
  readonly name: string;
  readonly arguments: string;
  /** Gemini's signature of the thinking before the call; empty: none. */
  readonly thought: string;
}

/**
 * Pieces in `tool_calls`: a list, one call, or calls by their index; empty pieces are left out. `json`: text that they
 * were parsed from.
 */
export function callDeltas(calls: unknown, json: string): readonly CallDelta[] {
  return entriesOf(calls)
    .map((entry) => callDelta(entry, calls, json))
    .filter(saysSomething);
}

/** Pieces in the legacy `function_call`, which has no id. */
export function legacyDeltas(called: unknown, json: string): readonly CallDelta[] {
  return callDeltas([{ index: 0, function: called }], json);
}

function entriesOf(calls: unknown): readonly unknown[] {
  if (Array.isArray(calls)) return calls;
  const fields = fieldsOf(calls);
  return 'function' in fields || 'id' in fields || 'name' in fields ? [fields] : Object.values(fields);
}

function callDelta(entry: unknown, calls: unknown, json: string): CallDelta {
  const fields = fieldsOf(entry);
  const { id, index } = fields;
  const { name, arguments: given } = fieldsOf(fields['function'] ?? fields);
  return {
    id: noIds.has(textOf(id)) ? '' : textOf(id),
    index: typeof index === 'number' ? index : undefined,
    name: textOf(name),
    arguments: typeof given === 'object' && given !== null ? objectText(given, calls, json) : textOf(given),
    thought: textOf(fieldsOf(fieldsOf(fields['extra_content'])['google'])['thought_signature']),
  };
}

/** Text of arguments that are an object, with unchanged numbers. */
function objectText(given: object, calls: unknown, json: string): string {
  if (isTooDeep(given, json)) throw malformed('tool call arguments that are nested too deeply');
  keepArguments(calls, json);
  return inputJson(given);
}

/** Words that servers write for a missing id. */
const noIds: ReadonlySet<string> = new Set(['null', 'None', 'undefined']);

function saysSomething({ id, name, arguments: json, thought }: CallDelta): boolean {
  return id !== '' || name !== '' || json !== '' || thought !== '';
}

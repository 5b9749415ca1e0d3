import type { GatewayError } from '@gw2api/gateway/plugin';

/** Request settings that the response object repeats: all of them, with defaults filled in. */
export function settings(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    background: false,
    frequency_penalty: body['frequency_penalty'] ?? 0,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body['metadata'] ?? {},
    model: body['model'],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    presence_penalty: body['presence_penalty'] ?? 0,
    previous_response_id: body['previous_response_id'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
    reasoning: withDefaults({ effort: null, summary: null }, body['reasoning']),
    safety_identifier: body['safety_identifier'] ?? null,
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: withDefaults({ format: { type: 'text' } }, body['text']),
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: asList(body['tools']).map(describeTool),
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    user: body['user'] ?? null,
  };
}

/** Functions show all their fields, too. */
function describeTool(tool: unknown): unknown {
  const isFunction = asObject(tool)['type'] === 'function';
  return isFunction ? withDefaults({ description: null, parameters: null, strict: null }, tool) : tool;
}

/** Defaults with the given fields over them. In a loop, since a spread of very many fields takes twice as long. */
function withDefaults(
  defaults: Readonly<Record<string, unknown>>,
  given: unknown,
): Readonly<Record<string, unknown>> {
  const fields = asObject(given);
  // JSON may hold this key, and assigning it would set the prototype.
  if (Object.hasOwn(fields, '__proto__')) return { ...defaults, ...fields };
  const all: Record<string, unknown> = {};
  for (const part of [defaults, fields]) for (const name in part) all[name] = part[name];
  return all;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // Any object may be read by name.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The format's own codes for errors that have one; clients decide by them whether to back off and retry. */
const codes: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit_exceeded',
  invalid_request_error: 'invalid_prompt',
};

/** Upstream codes that clients act on, which are kept. */
const ownCodes: ReadonlySet<string> = new Set([
  'bio_policy',
  'context_length_exceeded',
  'cyber_policy',
  'insufficient_quota',
  'invalid_prompt',
  'rate_limit_exceeded',
  'server_is_overloaded',
  'slow_down',
  'usage_not_included',
]);

/** `error` of a failed response. */
export function responsesError({ type, code, message }: GatewayError): { code: string; message: string } {
  if (ownCodes.has(code)) return { code, message };
  const known = Object.hasOwn(codes, type) ? codes[type] : undefined;
  return { code: known ?? 'server_error', message };
}

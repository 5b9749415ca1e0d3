import type { MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import { cachingProblem } from './caching-rules.js';
import { historyProblem } from './history-rules.js';
import type { SimulatedModel } from '../models.js';
import { badRequest, Refusal } from '../refusal.js';
import { countShape, generateShape } from './request-shape.js';
import { strictSchemaProblem } from './schema-rules.js';
import { first, isObject } from './shape.js';

export interface RuleContext {
  /** The value of `anthropic-version`. */
  readonly version: string;
  readonly model: (id: string) => SimulatedModel;
}

type Rule = (request: MessagesRequest, context: RuleContext) => string | undefined;

/** The body of `POST /v1/messages` as a request. Throws a `Refusal` in the words of the real service. */
export function checkGenerate(body: unknown, context: RuleContext): MessagesRequest {
  return check(body, generateShape(body, ''), [...commonRules, ...generateRules], context);
}

/** The body of `POST /v1/messages/count_tokens`. Throws a `Refusal`. */
export function checkCount(body: unknown, context: RuleContext): MessagesRequest {
  return check(body, countShape(body, ''), commonRules, context);
}

function check(
  body: unknown,
  shapeError: string | undefined,
  rules: readonly Rule[],
  context: RuleContext,
): MessagesRequest {
  if (shapeError) throw badRequest(shapeError.replace(/^: /, ''));
  const request = withContents(body as MessagesRequest); // its shape has just been checked
  refuseUnknownThread(request);
  const problem = first(rules, (rule) => rule(request, context));
  if (problem) throw badRequest(problem);
  return request;
}

/** System message, which may have no content if it only configures. */
function withContents(request: MessagesRequest): MessagesRequest {
  if (request.messages.every((message) => 'content' in message)) return request;
  return {
    ...request,
    messages: request.messages.map((message) => ({ ...message, content: message.content ?? [] })),
  };
}

/** Refuses to continue a conversation: none is stored here, so the caller must send all of it. */
function refuseUnknownThread({ thread }: MessagesRequest): void {
  if (!isObject(thread) || thread['type'] !== 'continue') return;
  throw new Refusal(404, 'No usable Thread state was found for `previous_message_id`.', {
    details: { error_code: 'thread_not_found' },
  });
}

const commonRules: readonly Rule[] = [
  historyProblem,
  cachingProblem,
  ({ tools = [] }) =>
    new Set(tools.map(({ name }) => name)).size < tools.length
      ? 'tools: Tool names must be unique.'
      : undefined,
  ({ tools = [] }) => first(tools, (tool, at) => rootProblem(tool, at) ?? strictToolProblem(tool, at)),
  ({ output_config, output_format }) =>
    formatProblem(output_config?.format, 'output_config.format') ??
    formatProblem(output_format, 'output_format'),
  ({ tool_choice: choice, tools = [] }) =>
    choice?.type === 'tool' && !tools.some(({ name }) => name === choice.name)
      ? `tool_choice: Tool '${choice.name}' not found in provided tools`
      : undefined,
  ({ tool_choice: choice, tools = [] }) =>
    choice && choice.type !== 'none' && tools.length === 0
      ? 'tool_choice: may only be specified while providing tools'
      : undefined,
];

const generateRules: readonly Rule[] = [
  ({ max_tokens = 0, model }, context) => {
    const cap = context.model(model).maxTokens;
    return max_tokens > cap
      ? `max_tokens: ${max_tokens} > ${cap}, which is the maximum allowed number of output tokens for ${model}`
      : undefined;
  },
  (request, { version, model }) => {
    const supported = version < '2026-10-21' && model(request.model).sampling;
    const sent = ['temperature', 'top_p', 'top_k'].find((name) => request[name] !== undefined);
    if (sent && !supported) return `${sent}: Extra inputs are not permitted`;
    return supported === 'one' && request.temperature !== undefined && request.top_p !== undefined
      ? '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
      : undefined;
  },
  ({ tool_choice: choice, model }, context) =>
    isForced(choice?.type) && !context.model(model).forcedToolChoice
      ? 'tool_choice: forced tool use is not supported by this model'
      : undefined,
  ({ thinking, output_config: output, model }, context) =>
    thinkingProblem(context.model(model).thinking, thinking?.type, output?.effort),
  ({ thinking, tool_choice: choice }) =>
    isThinking(thinking?.type) && isForced(choice?.type)
      ? 'Thinking may not be enabled when tool_choice forces tool use.'
      : undefined,
  ({ thinking, temperature = 1 }) =>
    isThinking(thinking?.type) && temperature !== 1
      ? '`temperature` may only be set to 1 when thinking is enabled.'
      : undefined,
  ({ thinking, max_tokens = 0 }) =>
    thinking?.type === 'enabled' && thinking.budget_tokens >= max_tokens
      ? '`max_tokens` must be greater than `thinking.budget_tokens`.'
      : undefined,
  ({ stop_sequences: stops = [] }) =>
    first(stops, (stop) =>
      stop.trim() === '' ? 'stop_sequences: each stop sequence must contain non-whitespace' : undefined,
    ),
];

/** Error message of the real service for a kind of thinking that the model lacks. */
function thinkingProblem(
  kind: SimulatedModel['thinking'],
  type: string | undefined,
  effort: unknown,
): string | undefined {
  if (kind === 'any') return undefined;
  if (kind === 'none' && isThinking(type)) return 'This model does not support thinking.';
  if (kind === 'adaptive' && type === 'enabled')
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  if (kind === 'budget' && type === 'adaptive') return 'adaptive thinking is not supported on this model';
  return kind !== 'adaptive' && effort ? 'This model does not support the effort parameter.' : undefined;
}

function isThinking(type: string | undefined): boolean {
  return type === 'enabled' || type === 'adaptive';
}

function isForced(type: string | undefined): boolean {
  return type === 'any' || type === 'tool';
}

function strictToolProblem({ strict, input_schema: schema }: Tool, at: number): string | undefined {
  const problem = strict ? strictSchemaProblem(schema) : undefined;
  return problem && `tools.${at}.custom: ${problem}`;
}

function rootProblem({ input_schema: schema }: Tool, at: number): string | undefined {
  return schema && ['oneOf', 'allOf', 'anyOf'].some((name) => name in schema)
    ? `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
    : undefined;
}

function formatProblem(format: unknown, path: string): string | undefined {
  const problem = isObject(format) ? strictSchemaProblem(format['schema']) : undefined;
  return problem && `${path}.schema: ${problem}`;
}

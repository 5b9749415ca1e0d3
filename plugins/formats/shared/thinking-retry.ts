import { isGatewayError, withFields, type Intercept, type MessagesRequest, type Models } from 'gw2api/plugin';
import type { ModelProfile } from 'gw2api/plugin/format';
import { present } from './body.js';
import { planThinking, type ThinkingParams } from './thinking.js';
import { isForced } from './tool-choice.js';
import { UnsupportedFields } from './unsupported-fields.js';

/**
 * Interceptor for a retry: if the model refuses the kind of thinking that was chosen for an effort, retries with the kind that
 * it takes; a refusal about the model is kept as its profile. Undefined if no thinking was chosen here.
 */
export function thinkingRetry(
  params: ThinkingParams,
  decoded: MessagesRequest,
  models: Models,
): Intercept | undefined {
  const isChosen =
    params.effort && !params.kind && (decoded.thinking ?? decoded.output_config?.effort) !== undefined;
  if (!isChosen) return undefined;
  return async (request, call) => {
    try {
      return await call(request);
    } catch (error) {
      const learned = learnFrom(error, request);
      if (!learned) throw error;
      const profile = { ...models.profile(request.model), ...learned.profile };
      const reply = await call(replanned(request, { ...params, profile }));
      if (learned.isOfModel) models.learn(request.model, learned.profile);
      return withFields(reply, { attempts: reply.attempts + 1 });
    }
  };
}

/** The request with thinking and effort as they are planned for this profile. */
function replanned(request: MessagesRequest, params: ThinkingParams): MessagesRequest {
  const { thinking: _, output_config: output, ...rest } = request;
  const { max_tokens: asked = Infinity, messages } = request;
  const maxTokens = Math.min(asked, params.profile?.maxTokens ?? 128_000);
  const context = { model: undefined, maxTokens, isForced: isForced(request.tool_choice), messages };
  const { thinking, effort } = planThinking(params, context, new UnsupportedFields());
  const output_config = present({ ...output, effort });
  return {
    ...rest,
    ...present({ thinking }),
    ...(Object.keys(output_config).length > 0 && { output_config }),
  };
}

/** Profile in a refusal about thinking, and whether it is of the model or of one request; undefined for other errors. */
function learnFrom(
  error: unknown,
  { thinking, model }: MessagesRequest,
): (Pick<ThinkingRefusal, 'profile'> & { readonly isOfModel: boolean }) | undefined {
  if (!isGatewayError(error) || error.failure?.kind !== 'status' || error.failure.status !== 400)
    return undefined;
  const message = error.message.slice(0, 1000).toLowerCase();
  if (!/support|expected tags|not permitted/.test(message)) return undefined;
  const learned = thinkingRefusals.find(({ sent, says }) => sent === thinking?.type && says.test(message));
  const isOfModel = aboutModel.test(message) || message.includes(model.toLowerCase());
  return learned && { profile: learned.profile, isOfModel };
}

/** Other refusals may be about what stands beside it in that request: a forced tool, the beginning of the answer. */
const aboutModel = /\bmodel\b|expected tags|extra inputs/;

interface ThinkingRefusal {
  /** The kind of thinking that was refused. */
  readonly sent: string | undefined;
  readonly says: RegExp;
  readonly profile: ModelProfile;
}

/** In this order; beside a forced tool choice an effort goes up without thinking. */
const thinkingRefusals: readonly ThinkingRefusal[] = [
  { sent: 'enabled', says: /adaptive|type\.enabled|['"`]enabled['"`]/, profile: { thinking: 'adaptive' } },
  { sent: 'enabled', says: /thinking/, profile: { thinking: 'none' } },
  { sent: 'adaptive', says: /adaptive/, profile: { thinking: 'budget' } },
  { sent: 'adaptive', says: /effort.{0,40}(?:level|max)/, profile: { efforts: ['low', 'medium', 'high'] } },
  { sent: 'adaptive', says: /effort|output_config/, profile: { thinking: 'budget' } },
  { sent: 'adaptive', says: /thinking/, profile: { thinking: 'none' } },
  { sent: undefined, says: /effort|output_config/, profile: { efforts: [] } },
  { sent: 'disabled', says: /thinking|disabled/, profile: { canStopThinking: false } },
];

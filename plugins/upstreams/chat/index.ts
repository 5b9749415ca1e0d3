import { Type } from '@gw2api/gateway/plugin';
import { defineUpstream, type UpstreamHost } from '@gw2api/gateway/plugin/upstream';
import type { Static } from 'typebox';
import { OpenaiUpstream, type OpenaiDialect } from '../shared/openai/openai-upstream.js';
import { capabilitiesOf, chatOptions } from './capabilities.js';
import { chatParts } from './refused.js';
import { chatRequest, type ChatRequest } from './request/chat-request.js';
import { chatPromptBytes } from './request/prompt-bytes.js';
import { standIn } from './stand-in/index.js';
import { ChatAnswer } from './stream/chat-answer.js';
import { capabilitiesFor } from './call-capabilities.js';

const options = Type.Object(
  {
    ...chatOptions.properties,
    /** Query parameter `api-version` of Azure OpenAI. */
    apiVersion: Type.Optional(Type.String({ minLength: 1, title: 'API version' })),
  },
  { title: 'Chat Completions API' },
);

/** Upstreams with Chat Completions. The base URL is that of an OpenAI SDK, with `/v1` if the server has it. */
export default defineUpstream({
  name: 'chat',
  api: 1,
  options,
  needs: ['baseUrl'],
  adds: ['/chat/completions'],
  standIn,
  open: (given, host) => new OpenaiUpstream(dialectOf(given, host), host),
});

function dialectOf(
  { apiVersion, ...given }: Static<typeof options>,
  { slot, log }: UpstreamHost,
): OpenaiDialect<ChatRequest> {
  const capabilities = capabilitiesOf(given, slot.id);
  const { vendor, finishReason, thinkTags, unsupported } = capabilities;
  const isReasonOptional = finishReason === 'optional';
  const reportLeftOut = (): void =>
    log.warn({ slot: slot.id }, 'Left an event out of a stream that was cut before any text.');
  return {
    kind: 'chat',
    path: '/chat/completions',
    search: apiVersion === undefined ? '' : `?api-version=${encodeURIComponent(apiVersion)}`,
    keyHeader: given.preset === 'azure-openai' ? 'api-key' : 'authorization',
    unsupported,
    list: 'choices',
    parts: () => chatParts(capabilities),
    isSystemInUser: (call) => capabilitiesFor(capabilities, call).systemRole === 'user',
    write: (request, call) => chatRequest(request, capabilities, call),
    promptBytes: (body, totalBytes) => chatPromptBytes(body, capabilities, totalBytes),
    reader({ request: { model }, isWhole }, { body, names }, requestBytes) {
      const onLeftOut = isWhole === false ? reportLeftOut : undefined;
      const asked = { model, names, requestBytes, onLeftOut, hasLogprobs: body['logprobs'] === true };
      return new ChatAnswer({ ...asked, vendor, isReasonOptional, thinkTags });
    },
  };
}

import { defineUpstream, type UpstreamHost } from '@gw2api/gateway/plugin/upstream';
import { OpenaiUpstream, type OpenaiDialect } from '../shared/openai/openai-upstream.js';
import { promptBytes, promptBytesOf } from '../shared/prompt-bytes.js';
import { responsesOptions, type ResponsesOptions, type ResponsesSettings } from './options.js';
import { responsesParts } from './refused.js';
import { responsesRequest, type ResponsesRequest } from './request/responses-request.js';
import { standIn } from './stand-in/index.js';
import { ResponseEvents } from './stream/response-events.js';
import { settingsFor } from './taken-back.js';

/** Upstreams with the Responses API. The base URL is that of an OpenAI SDK, with `/v1` if the server has it. */
export default defineUpstream({
  name: 'responses',
  api: 1,
  options: responsesOptions,
  needs: ['baseUrl'],
  adds: ['/responses'],
  standIn,
  open: (options, host) => new OpenaiUpstream(dialectOf(options, host), host),
});

/** Parts of a request that become input tokens. */
const prompt = ['input', 'instructions', 'tools'] as const;

function dialectOf(options: ResponsesOptions, { slot }: UpstreamHost): OpenaiDialect<ResponsesRequest> {
  const settings: ResponsesSettings = { ...options, vendor: options.vendor ?? slot.id };
  const { vendor, unsupported } = settings;
  return {
    kind: 'responses',
    path: '/responses',
    keyHeader: 'authorization',
    unsupported,
    list: 'output',
    parts: () => responsesParts(settings.encryptedReasoning),
    isSystemInUser: (call) => settingsFor(settings, call).takesSystem === false,
    write: (request, call) => responsesRequest(request, settings, call),
    promptBytes: (body, totalBytes) =>
      totalBytes === undefined ? promptBytes(body, prompt) : promptBytesOf(body, totalBytes, prompt),
    reader: ({ request: { model } }, { names }, requestBytes) =>
      new ResponseEvents({ model, vendor, names, requestBytes }),
  };
}

/** Formats as their authors would write them: plain JavaScript that imports the public modules of gw2api alone. */

/** Ollama's `/api/chat`: newline-delimited JSON, errors of its own, streamed unless asked otherwise. */
export const ollama = `
import { foldMessage, GatewayError, toGatewayError, Type } from '@gw2api/gateway/plugin';
import { compileCheck, defineFormat, formatPath, interruptedError } from '@gw2api/gateway/plugin/format';

const body = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Type.Object({ role: Type.Enum(['system', 'user', 'assistant']), content: Type.String() })),
  stream: Type.Optional(Type.Boolean()),
});
const check = compileCheck(body);

export default defineFormat({
  name: 'ollama',
  options: Type.Object({ maxTokens: Type.Integer({ default: 512 }) }),
  routes: [
    {
      method: 'POST', path: '/api/chat', operation: 'generate',
      openapi: { summary: 'An Ollama chat.', answers: { 200: Type.Object({ done: Type.Boolean() }) } },
    },
    {
      method: 'GET', path: '/api/tags', operation: 'route',
      handle(ctx, { models }) {
        ctx.body = { models: models.list().map(({ id }) => ({ name: id })) };
      },
    },
  ],
  body,
  decode(given, { options }) {
    const [error] = check(given);
    if (error) throw new GatewayError('invalid_request', formatPath(error.path) + ': ' + error.message);
    const system = given.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    const messages = given.messages.filter(({ role }) => role !== 'system');
    const request = { model: given.model, max_tokens: options.maxTokens, messages };
    if (system.length > 0) request.system = system.join('\\n');
    return { request, stream: given.stream !== false, dropped: [] };
  },
  encoder({ model }) {
    return {
      contentType: 'application/x-ndjson',
      whole: async ({ events }) => {
        const { content, stop_reason } = await foldMessage(events);
        const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
        return { model, message: { role: 'assistant', content: text }, done: true, done_reason: reason(stop_reason) };
      },
      stream: ({ events }) => lines(events, model),
    };
  },
  error: ({ message }) => ({ error: message }),
});

async function* lines(events, model) {
  const line = (fields) => JSON.stringify({ model, ...fields }) + '\\n';
  let stop = null;
  let isDone = false;
  try {
    for await (const batch of events) {
      let text = '';
      for (const { json } of batch) {
        if (json.type === 'content_block_delta' && json.delta.type === 'text_delta')
          text += line({ message: { role: 'assistant', content: json.delta.text }, done: false });
        if (json.type === 'message_delta') stop = json.delta.stop_reason;
        if (json.type === 'message_stop') isDone = true;
        if (json.type === 'message_stop')
          text += line({ message: { role: 'assistant', content: '' }, done: true, done_reason: reason(stop) });
      }
      if (text) yield text;
    }
    if (!isDone) throw interruptedError();
  } catch (error) {
    yield JSON.stringify({ error: toGatewayError(error).message }) + '\\n';
    throw error;
  }
}

const reason = (stop) => (stop === 'max_tokens' ? 'length' : 'stop');
`;

/** Gemini's paths: the model and the verb in the path, the stream as server-sent events or as one array. */
export const gemini = `
import { GatewayError, foldMessage, toGatewayError } from '@gw2api/gateway/plugin';
import { defineFormat, interruptedError } from '@gw2api/gateway/plugin/format';

const route = (verb) => ({ method: 'POST', path: '/v1beta/models/:model\\\\:' + verb, operation: 'generate' });

export default defineFormat({
  name: 'gemini',
  keyHeader: 'x-goog-api-key',
  routes: [
    { ...route('generateContent'), openapi: { summary: 'Gemini content.', answers: { 200: { type: 'object' } } } },
    route('streamGenerateContent'),
    { ...route('countTokens'), operation: 'count-tokens' },
  ],
  body: { type: 'object', properties: { contents: { type: 'array' } }, required: ['contents'] },
  decode({ contents, generationConfig }, { params, path }) {
    if (!Array.isArray(contents)) throw new GatewayError('invalid_request', 'contents: must be an array');
    const messages = contents.map(({ role, parts }) => ({
      role: role === 'model' ? 'assistant' : 'user',
      content: parts.map(({ text }) => ({ type: 'text', text })),
    }));
    const request = { model: params.model, max_tokens: generationConfig?.maxOutputTokens ?? 1024, messages };
    return { request, stream: path.endsWith(':streamGenerateContent'), dropped: [] };
  },
  encoder(_, { query }) {
    const isArray = query.get('alt') !== 'sse';
    return {
      contentType: isArray ? 'application/json; charset=utf-8' : 'text/event-stream; charset=utf-8',
      whole: async ({ events }) => answer(await foldMessage(events)),
      stream: ({ events }) => chunks(events, isArray),
    };
  },
  count: (totalTokens) => ({ totalTokens }),
  error: ({ status, message, type }) => ({ error: { code: status, message, status: type.toUpperCase() } }),
});

const finish = { max_tokens: 'MAX_TOKENS', refusal: 'SAFETY' };
const chunk = (text, finishReason) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) }],
});

function answer({ content, stop_reason }) {
  const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
  return chunk(text, finish[stop_reason] ?? 'STOP');
}

async function* chunks(events, isArray) {
  let count = 0;
  let stop;
  let isDone = false;
  const write = (value) => {
    count += 1;
    const json = JSON.stringify(value);
    return isArray ? (count === 1 ? '[' : ',') + json : 'data: ' + json + '\\n\\n';
  };
  try {
    for await (const batch of events) {
      let text = '';
      for (const { json } of batch) {
        if (json.type === 'content_block_delta' && json.delta.type === 'text_delta') text += write(chunk(json.delta.text));
        if (json.type === 'message_delta') stop = json.delta.stop_reason;
        if (json.type === 'message_stop') isDone = true;
        if (json.type === 'message_stop') text += write(chunk('', finish[stop] ?? 'STOP')) + (isArray ? ']' : '');
      }
      if (text) yield text;
    }
    if (!isDone) throw interruptedError();
  } catch (error) {
    yield write({ error: { message: toGatewayError(error).message } }) + (isArray ? ']' : '');
    throw error;
  }
}
`;

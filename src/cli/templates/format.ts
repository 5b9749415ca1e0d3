import type { Template } from './template.js';

/** A format of a prompt in, and a text or lines of JSON out. */
export const format: Template = {
  plugin: `
import { foldMessage, GatewayError, toGatewayError, Type«, type EventStream» } from '@gw2api/gateway/plugin';
import { compileCheck, defineFormat, formatPath, interruptedError } from '@gw2api/gateway/plugin/format';

const body = Type.Object({ model: Type.String(), prompt: Type.String(), stream: Type.Optional(Type.Boolean()) });
const check = compileCheck(body);
«
interface Body {
  readonly model: string;
  readonly prompt: string;
  readonly stream?: boolean;
}
»
/** A prompt in; a text out, or lines of JSON. */
export default defineFormat({
  name: '__NAME__',
  api: 1,
  routes: [{ method: 'POST', path: '/__NAME__', operation: 'generate' }],
  body,
  decode(given) {
    const [mismatch] = check(given);
    if (mismatch) throw new GatewayError('invalid_request', \`\${formatPath(mismatch.path)}: \${mismatch.message}\`);
    const { model, prompt, stream = false } = given« as Body»;
    const request = { model, max_tokens: 1024, messages: [{ role: 'user'« as const», content: prompt }] };
    return { request, stream, dropped: [] };
  },
  encoder: () => ({
    contentType: 'application/x-ndjson',
    async whole({ events }) {
      const { content } = await foldMessage(events);
      return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), done: true };
    },
    stream: ({ events }) => lines(events),
  }),
  error: ({ message }) => ({ error: message }),
});

const line = (fields«: object») => \`\${JSON.stringify(fields)}\\n\`;

async function* lines(events«: EventStream»)«: AsyncGenerator<string>» {
  let isDone = false;
  try {
    for await (const batch of events) {
      let text = '';
      for (const { json } of batch) {
        if (json.type === 'content_block_delta' && json.delta.type === 'text_delta')
          text += line({ text: json.delta.text });
        isDone ||= json.type === 'message_stop';
      }
      yield text;
    }
    if (!isDone) throw interruptedError();
    yield line({ text: '', done: true });
  } catch (error) {
    yield line({ error: toGatewayError(error).message });
    throw error;
  }
}
`,
  test: `
import { describe, it } from 'mocha';
import { checkFormat } from '@gw2api/gateway/testing';
import format from '__MODULE__';
«
interface Line {
  readonly text: string;
  readonly done?: boolean;
  readonly error?: string;
}
»
const linesOf = (stream«: string»)«: Line[]» =>
  stream
    .trimEnd()
    .split('\\n')
    .map((line) => JSON.parse(line));

describe('__NAME__', () => {
  it('keeps the rules of a format', () =>
    checkFormat(format, {
      body: { model: 'test-model', prompt: 'Hi' },
      fold(stream) {
        const lines = linesOf(stream);
        if (!lines.at(-1)?.done) throw new Error('The stream does not end.');
        return { text: lines.map(({ text }) => text).join(''), done: true };
      },
      errorIn: (stream) => linesOf(stream).at(-1)?.error ?? '',
    }));
});
`,
};

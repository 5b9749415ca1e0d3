import { expect } from 'chai';
import { checkFormat, fakeFormat, type FormatCheck } from '@gw2api/gateway/testing';
import type { Format } from '@gw2api/gateway/plugin';
import { formatKind } from '#src/engine/pipeline/load/format-kind.js';
import { loadPlugin } from '#src/engine/pipeline/load/load-plugin.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { TempFolders } from '../whole/temp-folders.js';
import { checkBroken } from '../plugins/formats/grammar/broken.js';
import { foldChat, wholeChat } from '../plugins/formats/grammar/chat.js';
import { foldCompletions } from '../plugins/formats/grammar/completions.js';
import { foldMessages } from '../plugins/formats/grammar/messages.js';
import { checkResponses } from '../plugins/formats/grammar/responses.js';
import { formats, type FormatName } from '../support/formats.js';
import { gemini, ollama } from '../support/outside-formats.js';

const failed = 'The upstream failed on purpose.';
const includeUsage = { stream_options: { include_usage: true } };

/** The message of an error event that the grammar of broken streams has found. */
const brokenBy = (name: FormatName) => (stream: string) => {
  checkBroken[name](stream);
  expect(stream).to.include(failed);
  return failed;
};

const builtins: Readonly<Record<FormatName, FormatCheck>> = {
  messages: {
    body: { model: 'asked', messages: [] },
    fold: foldMessages,
    errorIn: brokenBy('messages'),
  },
  chat: {
    body: { model: 'asked', messages: [{ role: 'user', content: 'Hi' }], ...includeUsage },
    fold: (stream) => foldChat(stream, { usage: true }),
    comparable: wholeChat,
    errorIn: brokenBy('chat'),
  },
  responses: {
    body: { model: 'asked', input: 'Hi', store: false, include: ['reasoning.encrypted_content'] },
    fold: checkResponses,
    errorIn: brokenBy('responses'),
  },
  completions: {
    body: { model: 'asked', prompt: 'Hi', ...includeUsage },
    fold: (stream) => foldCompletions(stream, { usage: true }),
    errorIn: brokenBy('completions'),
  },
};

interface Line {
  readonly error?: string;
  readonly done: boolean;
  readonly message: { readonly content: string };
}

const ollamaCheck: FormatCheck = {
  body: { model: 'asked', messages: [{ role: 'user', content: 'Hi' }] },
  context: { options: { maxTokens: 9 } },
  fold(stream) {
    const lines = stream
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    const last = lines.pop();
    if (!last?.done || lines.some(({ done }) => done)) throw new Error('does not end once');
    const content = lines.map(({ message }) => message.content).join('');
    return { ...last, message: { ...last.message, content } };
  },
  errorIn: (stream) => (JSON.parse(stream.trimEnd().split('\n').at(-1) ?? '') as Line).error ?? '',
};

interface Chunk {
  readonly error?: { readonly message: string };
  readonly candidates: readonly [
    { readonly content: { readonly parts: readonly [{ readonly text: string }] } },
  ];
}

function geminiCheck(chunksIn: (stream: string) => readonly Chunk[], alt: string): FormatCheck {
  return {
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    context: {
      params: { model: 'asked' },
      path: '/v1beta/models/asked:streamGenerateContent',
      query: new URLSearchParams(alt),
    },
    fold(stream) {
      const chunks = chunksIn(stream);
      const text = chunks.map(({ candidates }) => candidates[0].content.parts[0].text).join('');
      const candidate = chunks.at(-1)?.candidates[0];
      return { candidates: [{ ...candidate, content: { ...candidate?.content, parts: [{ text }] } }] };
    },
    errorIn: (stream) => chunksIn(stream).at(-1)?.error?.message ?? '',
  };
}

const sseChunks = (stream: string) =>
  stream
    .trimEnd()
    .split('\n\n')
    .map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);

describe('the conformance suite of formats', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  async function outside(text: string): Promise<Format> {
    const folder = await folders.make({ 'format.mjs': text });
    return loadPlugin(formatKind, './format.mjs', { baseDir: folder, builtins: builtinFolder });
  }

  for (const [name, check] of Object.entries(builtins) as [FormatName, FormatCheck][])
    // its keys are the names
    it(`passes ${name}`, () => checkFormat(formats[name], check));

  it('passes an Ollama format from outside', async () => {
    await checkFormat(await outside(ollama), ollamaCheck);
  });

  it('passes a Gemini format from outside, with events or as an array', async () => {
    const format = await outside(gemini);
    await checkFormat(format, geminiCheck(sseChunks, 'alt=sse'));
    await checkFormat(
      format,
      geminiCheck((stream) => JSON.parse(stream) as readonly Chunk[], ''),
    );
  });

  const told = async (format: Format, check: Partial<FormatCheck> = {}) =>
    checkFormat(format, { ...builtins.messages, ...check }).then(
      () => 'passed',
      (error: Error) => error.message,
    );

  it('fills in the defaults of the options, as the gateway does', async () => {
    const seen = new Set<string>();
    const chat = formats.chat;
    const format: Format = {
      ...chat,
      options: {
        type: 'object',
        properties: { word: { type: 'string', default: 'first' }, more: { type: 'string' } },
      },
      decode(body, context) {
        seen.add(JSON.stringify(context.options));
        return chat.decode(body, context);
      },
    };
    await checkFormat(format, builtins.chat);
    await checkFormat(format, { ...builtins.chat, context: { options: { more: 'last' } } });
    expect([...seen].map((text) => JSON.parse(text) as unknown)).to.deep.equal([
      { word: 'first' },
      { more: 'last', word: 'first' },
    ]);
  });

  it('names the rule that a format breaks', async () => {
    const { chat } = formats;
    const { body } = builtins.chat;
    const changed = (change: (text: string) => string): Format => ({
      ...chat,
      async encoder(given, context) {
        const encoder = await chat.encoder(given, context);
        return {
          ...encoder,
          async *stream(reply) {
            for await (const piece of encoder.stream(reply)) yield change(Buffer.from(piece).toString());
          },
        };
      },
    });
    const forChat = { ...builtins.chat, body };
    expect(
      await told(
        changed((text) => text.replace('[DONE]', '')),
        forChat,
      ),
    ).to.not.equal('passed');
    expect(
      await told(
        changed((text) => `: piece\n\n${text}`),
        forChat,
      ),
    ).to.match(/the same bytes as one batch/);
    expect(
      await told(
        changed((text) => text.replace('Gr', 'gr')),
        forChat,
      ),
    ).to.match(/whole = fold\(stream\)/);
    expect(
      await told(
        changed((text) => (text.includes('"error"') ? '' : text)),
        forChat,
      ),
    ).to.not.equal('passed');
    expect(await told(fakeFormat('x', { request: {} as never }))).to.match(/decode gives a Messages request/);
  });
});

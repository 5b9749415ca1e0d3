import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { foldMessage, type ContentBlock, type Message } from '#src/plugin/index.js';
import type { FormatContext } from '#src/plugin/format/index.js';
import { recordedEvents, replyOf } from '@gw2api/gateway/testing';
import { formats } from '../../support/formats.js';
import { contextWith } from './contexts.js';

const folder = join(process.cwd(), '../shared/fixtures/messages-streams');
const user = { role: 'user', content: 'Hi' };

/** The answers of recorded streams that end as they should, and not within a call, by file name. */
async function recordedAnswers(): Promise<ReadonlyMap<string, readonly ContentBlock[]>> {
  const answers = new Map<string, readonly ContentBlock[]>();
  for (const name of readdirSync(folder).filter((file) => !file.startsWith('constructed-'))) {
    const { content, stop_reason } = await foldMessage(eventsOf(name));
    const hasCut = stop_reason === 'max_tokens' && content.some(({ type }) => type === 'tool_use');
    if (!hasCut) answers.set(name, content);
  }
  return answers;
}

function eventsOf(name: string) {
  return recordedEvents(readFileSync(join(folder, name), 'utf8'));
}

/** What a history can hold of an answer: thoughts, calls, and its text in one piece. */
function replayed(blocks: readonly ContentBlock[]) {
  const last = blocks.findLastIndex(({ type }) => type === 'tool_use' || type === 'text');
  return {
    thoughts: blocks.slice(0, last + 1).filter(({ type }) => type.endsWith('thinking')),
    calls: blocks
      .filter((block) => block.type === 'tool_use')
      .map(({ id, name, input }) => ({ id, name, input })),
    text: blocks
      .filter((block) => block.type === 'text')
      .map(({ text }) => text)
      .join('')
      .trim(),
  };
}

/** Why the provider refused, which the other formats have no place for but the answer. */
async function explanation(name: string): Promise<readonly ContentBlock[]> {
  const texts: string[] = [];
  for await (const batch of eventsOf(name))
    for (const { json } of batch)
      if (json.type === 'message_delta') texts.push(json.delta.stop_details?.explanation ?? '');
  return texts.map((text) => ({ type: 'text', text }));
}

function assistantBlocks(messages: readonly Message[]): readonly ContentBlock[] {
  const [, answer] = messages;
  return typeof answer?.content === 'object' && answer.role === 'assistant' ? answer.content : [];
}

async function chatTurn(name: string, context: FormatContext): Promise<readonly ContentBlock[]> {
  const body = { model: 'm', messages: [user] };
  const encoder = await formats.chat.encoder(body, context);
  const answer = await encoder.whole(replyOf(eventsOf(name)));
  const { choices } = answer as { choices: { message: object }[] }; // a chat completion
  const { request } = await formats.chat.decode(
    { model: 'm', messages: [user, choices[0]!.message] },
    context,
  );
  return assistantBlocks(request.messages);
}

async function responsesTurn(name: string, context: FormatContext): Promise<readonly ContentBlock[]> {
  const body = { model: 'm', input: [user], store: false, include: ['reasoning.encrypted_content'] };
  const encoder = await formats.responses.encoder(body, context);
  const answer = await encoder.whole(replyOf(eventsOf(name)));
  const { output } = answer as { output: object[] }; // a response
  const { request } = await formats.responses.decode({ ...body, input: [user, ...output] }, context);
  return assistantBlocks(request.messages);
}

async function storedTurn(name: string, context: FormatContext): Promise<readonly ContentBlock[]> {
  const body = { model: 'm', input: [user] };
  const encoder = await formats.responses.encoder(body, context);
  const answer = await encoder.whole(replyOf(eventsOf(name)));
  const { id } = answer as { id: string }; // a response
  const { request } = await formats.responses.decode({ ...body, previous_response_id: id }, context);
  return assistantBlocks(request.messages);
}

describe('an answer that comes back as history', () => {
  for (const [way, turn] of Object.entries({ chatTurn, responsesTurn, storedTurn })) {
    it(`has its thoughts, calls and text unchanged (${way})`, async function () {
      if (!existsSync(folder)) return this.skip();
      const context = contextWith({ id: 'm' });
      for (const [name, blocks] of await recordedAnswers()) {
        const said = [...blocks, ...(await explanation(name))];
        expect(replayed(await turn(name, context)), name).to.deep.equal(replayed(said));
      }
    });
  }
});

import { expect } from 'chai';
import { foldMessage, type MessagesResponse } from 'gw2api/plugin';
import { modelEvents, replyOf, sentEvents } from '../streams.js';

/** Checks a complete stream against the grammar of Messages events, and folds it. */
export async function foldMessages(text: string): Promise<MessagesResponse> {
  const sent = sentEvents(text);
  for (const { event, data } of sent) expect((JSON.parse(data) as { type: string }).type).to.equal(event);
  const types = sent.map(({ event }) => event);
  expect(types[0]).to.equal('message_start');
  expect(types.filter((type) => type === 'message_start')).to.have.length(1);
  expect(types.at(-1)).to.equal('message_stop');
  return foldMessage(replyOf(modelEvents(text)).events);
}

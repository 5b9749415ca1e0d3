import { expect } from 'chai';
import { foldMessage, type MessagesResponse } from '@gw2api/gateway/plugin';
import { modelEvents, replyOf, sentEvents } from '../streams.js';

interface Event {
  readonly type: string;
  readonly index?: number;
}

/** Checks a complete stream against the grammar of Messages events, and folds it. */
export async function foldMessages(text: string): Promise<MessagesResponse> {
  const events = sentEvents(text).map(({ event, data }) => {
    const json = JSON.parse(data) as Event; // whose type is checked
    expect(json.type).to.equal(event);
    return json;
  });
  const types = events.map(({ type }) => type);
  expect(types[0]).to.equal('message_start');
  expect(types.filter((type) => type === 'message_start')).to.have.length(1);
  expect(types.indexOf('message_stop')).to.equal(types.length - 1);
  checkBlocks(events);
  const end = types.indexOf('message_delta');
  if (end !== -1) expect(['message_delta', 'ping', 'message_stop']).to.include.members(types.slice(end));
  return foldMessage(replyOf(modelEvents(text)).events);
}

/** Deltas and stops are about a block that is open; one that begins again where another stands has ended that one. */
function checkBlocks(events: readonly Event[]): void {
  const open = new Set<number>();
  for (const { type, index } of events) {
    if (index === undefined) continue;
    if (type === 'content_block_start') open.add(index);
    else expect(open.has(index), `${type} of block ${index}, which is not open`).to.equal(true);
    if (type === 'content_block_stop') open.delete(index);
  }
}

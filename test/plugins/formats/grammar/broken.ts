import { expect } from 'chai';
import type { FormatName } from '../../../support/formats.js';
import { sentEvents } from '../streams.js';
import { checkFailed } from './responses.js';

/** What the last event of a broken stream says. */
export interface BrokenEnd {
  readonly code?: string;
  readonly type?: string;
  readonly message: string;
}

/** For each format: checks that a stream ends with its error event and has no mark of success. */
export const checkBroken: Readonly<Record<FormatName, (text: string) => BrokenEnd>> = {
  messages: (text) => {
    const last = sentEvents(text).at(-1)!;
    expect(last.event).to.equal('error');
    const { type, error } = JSON.parse(last.data) as { type: string; error: BrokenEnd };
    expect(type).to.equal('error');
    expect(error).to.have.property('message').a('string');
    expect(error).to.have.property('type').a('string');
    expect(text).to.not.contain('event: message_stop');
    return error;
  },
  chat: checkChunks,
  completions: checkChunks,
  responses: (text) => {
    const error = checkFailed(text)['error'] as BrokenEnd; // whose keys are checked
    expect(error).to.have.keys('code', 'message');
    return error;
  },
};

function checkChunks(text: string): BrokenEnd {
  const { event, data } = sentEvents(text).at(-1)!;
  expect(event).to.equal(undefined);
  const { error } = JSON.parse(data) as { error: BrokenEnd };
  expect(error).to.have.keys('type', 'code', 'message', 'param');
  expect(text).to.not.contain('data: [DONE]');
  return error;
}

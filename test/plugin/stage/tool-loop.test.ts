import { expect } from 'chai';
import { toolLoop, type Message } from '#src/plugin/index.js';

const calls: Message = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }],
};
const results: Message = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'c', content: 'one' }],
};
const system: Message = { role: 'system', content: '10 tokens left' };
const user: Message = { role: 'user', content: 'Hi' };

describe('the tool loop at the end of a conversation', () => {
  it('is the last calls and their results, whatever the system says between and after them', () => {
    expect(toolLoop([user, calls, results])).to.deep.equal({ calls, results });
    expect(toolLoop([user, calls, system, results, system, user])).to.deep.equal({ calls, results });
  });

  it('is none where the conversation ends otherwise, or is not valid', () => {
    expect(toolLoop([user, calls, results, { role: 'assistant', content: 'Done.' }])).to.equal(undefined);
    expect(toolLoop([user, calls, user])).to.equal(undefined);
    expect(toolLoop([user, calls, system])).to.equal(undefined);
    expect(toolLoop([results])).to.equal(undefined);
    expect(toolLoop([null, { ...calls, content: null as never }, null])).to.equal(undefined);
  });
});

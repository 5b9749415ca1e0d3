import { expect } from 'chai';
import * as fc from 'fast-check';
import type { ContentBlock, Message } from '@gw2api/gateway/plugin';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { decodeResponses } from '#plugins/formats/responses/request.js';
import { contextWith, frozen } from './contexts.js';

const context = contextWith({ id: 'm' });
const id = fc.constantFrom('a', 'b', 'c', 'd e', 'call.1');
const text = fc.constantFrom('', ' ', 'one', 'two', 'three');
const name = fc.constantFrom('f', 'g.h');

const toolCall = fc.record({
  id,
  type: fc.constant('function'),
  function: fc.record({ name, arguments: fc.constantFrom('', '{}', '{"x":1}') }),
});

const chatMessage = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content: text }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.option(text),
    tool_calls: fc.array(toolCall, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content: text }),
);

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'developer'), content: text }),
  fc.record({ type: fc.constant('function_call'), call_id: id, name, arguments: fc.constant('{}') }),
  fc.record({ type: fc.constant('function_call_output'), call_id: id, output: text }),
  fc.record({ type: fc.constant('reasoning'), encrypted_content: fc.constant('gAAA') }),
);

const said = { role: 'user', content: 'Hi' };

function blocksOf({ content }: Message): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** What must hold of every list of messages that we decode. */
function expectValid(messages: readonly Message[]): void {
  messages.forEach((message, at) => {
    expect(message.role).to.not.equal(messages[at - 1]?.role);
    const types = blocksOf(message).map(({ type }) => type);
    expect(types).to.not.have.length(0);
    expect(types.lastIndexOf('tool_result')).to.be.below(
      types.filter((type) => type === 'tool_result').length,
    );
  });
}

/** A call or a result, by its id. */
interface Step {
  readonly call?: string;
  readonly result?: string;
}

/** The calls of a source that have a result somewhere after them: each takes the next free one with its id. */
function answeredCalls(steps: readonly Step[]): number {
  const taken = new Set<number>();
  return steps.filter(({ call }, at) => {
    const found = steps.findIndex(({ result }, to) => to > at && result === call && !taken.has(to));
    if (call === undefined || found === -1) return false;
    return taken.add(found);
  }).length;
}

/** The calls whose result is in the very next message. */
function directlyAnswered(messages: readonly Message[]): number {
  return messages.flatMap((message, at) => {
    const next = messages[at + 1];
    const results = next ? blocksOf(next).filter((block) => block.type === 'tool_result') : [];
    const left = results.map(({ tool_use_id }) => tool_use_id);
    return blocksOf(message).filter((block) => {
      const found = block.type === 'tool_use' ? left.indexOf(block.id) : -1;
      return found !== -1 && left.splice(found, 1).length === 1;
    });
  }).length;
}

describe('any conversation', () => {
  it('of Chat takes turns, results first, and has every result right after its call', () => {
    fc.assert(
      fc.property(fc.array(chatMessage, { maxLength: 12 }), (messages) => {
        const { request } = decodeChat(frozen({ model: 'm', messages: [said, ...messages] }), context);
        expectValid(request.messages);
        const steps = messages.flatMap((message): Step[] =>
          'tool_calls' in message
            ? message.tool_calls.map((call) => ({ call: call.id }))
            : 'tool_call_id' in message
              ? [{ result: message.tool_call_id }]
              : [],
        );
        expect(directlyAnswered(request.messages)).to.equal(answeredCalls(steps));
      }),
      { numRuns: 1000 },
    );
  });

  it('of Responses does the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 12 }), async (items) => {
        const { request } = await decodeResponses(frozen({ model: 'm', input: [said, ...items] }), context);
        expectValid(request.messages);
        const steps = items.flatMap((item): Step[] =>
          'output' in item ? [{ result: item.call_id }] : 'call_id' in item ? [{ call: item.call_id }] : [],
        );
        expect(directlyAnswered(request.messages)).to.equal(answeredCalls(steps));
      }),
      { numRuns: 500 },
    );
  });
});

import { expect } from 'chai';
import { capabilitiesOf, type Capabilities } from '#plugins/upstreams/chat/capabilities.js';
import type { ChatMessage, ChatPart } from '#plugins/upstreams/chat/request/chat-body.js';
import { joined } from '#plugins/upstreams/chat/request/joined.js';
import { withoutSystem } from '#plugins/upstreams/chat/request/conversation.js';

const text = (said: string) => ({ type: 'text', text: said }) as const;
const marked = { ...text('m'), cache_control: { type: 'ephemeral' } } as const;
const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } } as const;
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } }) as const;

const messages: readonly ChatMessage[] = [
  { role: 'user', content: 'a' },
  { role: 'user', content: '' },
  { role: 'user', content: [text('b'), image] },
  { role: 'user', content: [marked] },
  { role: 'user', content: 'n', name: 'Ann' },
  { role: 'system', content: 's' },
  { role: 'system', content: [text('t'), text('u')] },
  { role: 'assistant', content: 'c', reasoning: 'why' },
  { role: 'assistant', content: null, tool_calls: [call('1')], reasoning_details: [{ at: 1 }] },
  { role: 'tool', tool_call_id: '1', content: 'r' },
];

const plain = capabilitiesOf({ preset: 'generic', unsupported: 'report' }, 's');

const receivers: readonly Capabilities[] = [true, false].flatMap((userAfterTool) =>
  [true, false].flatMap((textParts) =>
    [true, false].map((cacheControl) => ({ ...plain, userAfterTool, textParts, cacheControl })),
  ),
);

type Step = (messages: readonly ChatMessage[], receiver: Capabilities) => readonly ChatMessage[];

const steps: Readonly<Record<string, Step>> = { joined, withoutSystem };

/** All conversations of so many of the messages. */
function conversations(length: number): readonly (readonly ChatMessage[])[] {
  if (length === 0) return [[]];
  return conversations(length - 1).flatMap((before) => messages.map((message) => [...before, message]));
}

/** Parts of one message each, and a count of looks at them. */
function countedParts(count: number): { readonly parts: readonly ChatPart[]; readonly looks: () => number } {
  let looks = 0;
  const parts = Array.from(
    { length: count },
    () => new Proxy<ChatPart>(image, { get: (part, name) => ((looks += 1), Reflect.get(part, name)) }),
  );
  return { parts, looks: () => looks };
}

describe('neighbours in a Chat request', () => {
  for (const [name, step] of Object.entries(steps)) {
    it(`are merged all at once as they are one by one: ${name}`, () => {
      for (const conversation of conversations(3))
        for (const receiver of receivers) {
          const oneByOne = conversation.reduce<readonly ChatMessage[]>(
            (before, message) => step(before.concat(message), receiver),
            [],
          );
          expect(JSON.stringify(step(conversation, receiver))).to.equal(JSON.stringify(oneByOne));
        }
    });

    it(`are looked at a few times each, however many there are: ${name}`, () => {
      const { parts, looks } = countedParts(2000);
      const role = step === joined ? 'user' : 'system';
      const given = parts.map((part) => ({ role, content: [part] }) as const);
      const [first, ...others] = step([{ role: 'user', content: 'Hi' }, ...given], plain);
      expect(first?.content).to.have.length(2001);
      expect(others).to.deep.equal([]);
      expect(looks()).to.be.below(20_000);
    });
  }
});

import { expect } from 'chai';
import type { ContentBlock, Message } from '@gw2api/gateway/plugin';
import { narrowed } from './narrowed.js';

const text = (text: string) => ({ type: 'text', text }) as const;
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' } as const;
const image = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } as const;
const call = { type: 'tool_use', id: 'a', name: 'f', input: {} } as const;

const user = (...content: readonly ContentBlock[]): Message => ({ role: 'user', content });
const assistant = (...content: readonly ContentBlock[]): Message => ({ role: 'assistant', content });
const system: Message = { role: 'system', content: [text('Mode: act.')] };

function turns(...messages: readonly Message[]) {
  const { request, losses } = narrowed({ model: 'm', messages });
  return { messages: request.messages, losses };
}

describe('the turns of a translated request, for the Messages API,', () => {
  const [hi, bye] = [user(text('Hi')), user(text('Bye'))];

  it('stay the same objects where nothing is to be changed', () => {
    const messages = [hi, assistant(thinking, text('a'), text(' '), call), system, bye];
    expect(turns(...messages)).to.deep.equal({ messages, losses: [] });
    expect(narrowed({ model: 'm', messages }).request.messages).to.equal(messages);
  });

  it('begin with one of the user', () => {
    const { messages, losses } = turns(assistant(text('Welcome!')), hi);
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user']);
    expect(losses).to.deep.equal([]);
  });

  it('have no empty text, and blank ones beside texts and calls alone', () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: [text(''), image, text(' ')] } as const;
    const blank = { ...result, content: [text('')] };
    expect(
      turns(
        user(text(''), text('Hi'), text('\n')),
        assistant(text(''), call),
        user(result, blank, text(' ')),
        assistant(text(' '), call),
        user(text(' '), image),
      ),
    ).to.deep.equal({
      messages: [
        user(text('Hi'), text('\n')),
        assistant(call),
        user({ ...result, content: [image] }, { type: 'tool_result', tool_use_id: 'a' }),
        assistant(text(' '), call),
        user(image),
      ],
      losses: [],
    });
  });

  it('are in words where nothing of them would remain, which is reported', () => {
    const { messages, losses } = turns(hi, assistant(text('')), user(text(' ')), assistant(thinking), bye);
    expect(messages.slice(1, 4)).to.deep.equal([
      assistant(text('[empty message]')),
      user(text('[empty message]')),
      assistant(text('[thinking left out: no answer follows it]')),
    ]);
    expect(losses).to.deep.equal(['messages[1]', 'messages[2]', 'messages[3]']);
  });

  it('end in no thinking, and in no empty answer to be continued', () => {
    expect(turns(hi, assistant(text('a'), thinking), bye).messages[1]).to.deep.equal(assistant(text('a')));
    for (const last of [assistant(text('')), assistant(thinking)])
      expect(turns(hi, last)).to.deep.equal({ messages: [hi], losses: ['messages[1]'] });
    expect(turns(hi, assistant(text('')), system).messages).to.have.length(3);
    expect(turns(assistant(text(''))).messages[1]).to.deep.equal(assistant(text('[empty message]')));
  });

  it('end in no white space where the last one is to be continued', () => {
    expect(turns(hi, assistant(text('a \n'), text('\n'))).messages[1]).to.deep.equal(assistant(text('a')));
    expect(turns(hi, assistant(call, text(' '))).messages[1]).to.deep.equal(assistant(call));
    expect(turns(hi, assistant(text('a ')), bye).messages[1]).to.deep.equal(assistant(text('a ')));
  });
});

import { expect } from 'chai';
import type { Message } from '#src/plugin/index.js';
import type { ResponsesSettings } from '#plugins/upstreams/responses/options.js';
import { responsesRequest } from '#plugins/upstreams/responses/request/responses-request.js';
import { withObjectInputs } from '#plugins/upstreams/shared/call-inputs.js';
import { frozen } from '../../formats/contexts.js';
import { translate } from '../chat/translate.js';

const loss = { path: 'messages[1].content[1].input', kind: 'content' };

const calling = (input: unknown): readonly Message[] => [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'So' },
      { type: 'tool_use', id: 'a', name: 'f', input },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'R' }] },
];

describe('the inputs of the calls in a history', () => {
  it('stay as they are where they are objects', () => {
    const request = frozen({ messages: calling({ a: 1 }) });
    expect(withObjectInputs(request).request).to.equal(request);
    const odd = { messages: [null, 7, { role: 'assistant', content: [null] }] as unknown as Message[] };
    expect(withObjectInputs(odd).request).to.equal(odd);
  });

  it('are the finished members where they are a text that was cut, which is reported', () => {
    const { request, cut } = withObjectInputs(frozen({ messages: calling('{"cmd":"ls","cwd":"/t') }));
    expect(request.messages).to.deep.equal(calling({ cmd: 'ls' }));
    expect(cut).to.deep.equal([loss]);
  });

  it('are what a whole text says, without a report', () => {
    const { request, cut } = withObjectInputs({ messages: calling('{"a":1}') });
    expect(request.messages).to.deep.equal(calling({ a: 1 }));
    expect(cut).to.deep.equal([]);
  });

  it('reach a Chat and a Responses server as an object, too, and are reported', () => {
    const messages = calling('{"cmd":"ls","cwd":"/t');
    const chat = translate({ messages });
    expect(JSON.stringify(chat.body)).to.include(String.raw`"arguments":"{\"cmd\":\"ls\"}"`);
    expect(chat.losses).to.deep.equal([loss]);
    const settings: ResponsesSettings = {
      encryptedReasoning: false,
      efforts: [],
      strictTools: true,
      files: true,
      promptCacheKey: false,
      vendor: 'v',
      unsupported: 'report',
    };
    const responses = responsesRequest({ model: 'm', messages }, settings);
    expect(responses.body.input[2]).to.deep.include({ arguments: '{"cmd":"ls"}' });
    expect(responses.losses).to.deep.equal([loss]);
  });

  it('are refused by name where they are an array or a number', () => {
    for (const input of [[1], '[1]', 7])
      expect(() => translate({ messages: calling(input) })).to.throw(/^messages\[1\]\.content\[1\]\.input: /);
  });
});

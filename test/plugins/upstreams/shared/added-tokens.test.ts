import { expect } from 'chai';
import type { MessagesRequest, TextBlock, Tool } from '@gw2api/gateway/plugin';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { chatPromptBytes } from '#plugins/upstreams/chat/request/prompt-bytes.js';
import { AddedTokens, type SentCall } from '#plugins/upstreams/shared/added-tokens.js';
import { estimate } from '#plugins/upstreams/shared/answer/counts.js';

const persona = { type: 'text', text: 'Be kind to everyone.' } as const;
const tool = { name: 'search', description: 'Searches.', input_schema: { type: 'object' } };
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
} as const;
/** Request whose system text is a list. */
type Asked = {
  readonly messages: MessagesRequest['messages'];
  readonly model: string;
  readonly system: readonly TextBlock[];
  readonly tools?: readonly Tool[];
};

const own: Asked = {
  model: 'm',
  system: [{ type: 'text', text: 'Be short.' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }],
};

interface Setting {
  readonly request?: Asked;
  readonly systemRole?: 'system' | 'user';
}

const measure = (systemRole: 'system' | 'user') => (request: MessagesRequest) => {
  const capabilities = capabilitiesOf({ preset: 'generic', unsupported: 'report', systemRole }, 'a');
  return chatPromptBytes(chatRequest(request, capabilities).body, capabilities);
};

/** Tokens of the additions to a request, and those by which its estimate is above that of the caller's own. */
function compared(
  added: Omit<SentCall['call'], 'request'>,
  { request = own, systemRole = 'system' }: Setting = {},
) {
  const bytesOf = measure(systemRole);
  const { addedSystem = [], addedTools = [] } = added;
  const system = [...addedSystem, ...request.system];
  const sent = { ...request, system, tools: [...(request.tools ?? []), ...addedTools] };
  const bytes = bytesOf(sent);
  const call = { ...added, request: sent };
  return {
    tokens: new AddedTokens().of(
      { call, leftOut: [], bytes, isSystemInUser: systemRole === 'user' },
      bytesOf,
    ),
    above: estimate(bytes) - estimate(bytesOf(request)),
  };
}

describe('the tokens of the additions to an estimated input', () => {
  const cases: readonly (readonly [string, Omit<SentCall['call'], 'request'>, Setting])[] = [
    ['a text', { addedSystem: [persona] }, {}],
    ['a text beside none of the caller', { addedSystem: [persona] }, { request: { ...own, system: [] } }],
    ['a text in front of what the user says', { addedSystem: [persona] }, { systemRole: 'user' }],
    ['a tool', { addedTools: [tool] }, {}],
    [
      'a tool beside others',
      { addedTools: [tool] },
      { request: { ...own, tools: [{ ...tool, name: 'f' }] } },
    ],
    ['both', { addedSystem: [persona], addedTools: [tool] }, { systemRole: 'user' }],
    [
      'a text that the caller has too',
      { addedSystem: [persona] },
      { request: { ...own, system: [persona] } },
    ],
  ];
  for (const [name, added, options] of cases)
    it(`are those that they add to it: ${name}`, () => {
      const { tokens, above } = compared(added, options);
      expect(tokens).to.equal(above).and.be.greaterThan(0);
    });

  it('are unknown where nothing was added, or sent', () => {
    expect(compared({}).tokens).to.equal(undefined);
    const call = { request: own, addedTools: [tool] };
    const sent = { call, leftOut: [tool], bytes: 100, isSystemInUser: false };
    expect(new AddedTokens().of(sent, measure('system'))).to.equal(undefined);
  });

  it('are measured once for one system text, whatever is said after it', () => {
    const added = new AddedTokens();
    let measured = 0;
    const tokensOf = (system: string, said: string) => {
      const texts = [persona, { type: 'text', text: system } as const];
      const request = { ...own, system: texts, messages: [{ role: 'user', content: said } as const] };
      const call = { request, addedSystem: [persona] };
      const bytesOf = (part: MessagesRequest) => {
        measured += 1;
        return measure('system')(part);
      };
      return added.of({ call, leftOut: [], bytes: 1000, isSystemInUser: false }, bytesOf);
    };
    const tokens = tokensOf('Be short.', 'Hi');
    expect(tokensOf('Be short.', 'Go on')).to.equal(tokens);
    expect(measured).to.equal(2);
    tokensOf('Be brief.', 'Hi');
    expect(measured).to.equal(4);
  });
});

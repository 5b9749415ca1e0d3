import { expect } from 'chai';
import {
  extrasOf,
  type Intercept,
  type MessagesRequest,
  type ModelCall,
  type TextBlock,
} from '@gw2api/gateway/plugin';
import { replyOf } from '@gw2api/gateway/testing';
import { decodeCompletions, promptsOf } from '#plugins/formats/completions/request.js';
import { frozen } from '../contexts.js';
import { refusal } from '../refusals.js';

function decode(fields: object) {
  return decodeCompletions(frozen({ model: 'm', ...fields }));
}

const goOn: Intercept = (request, call) => call(request);

/** A format's intercept reads no context. */
const nowhere = {} as Parameters<Intercept>[2];

/** The texts of the calls that a body leads to, in order. */
async function callsOf(fields: object): Promise<readonly string[]> {
  const { request, intercept } = decode(fields);
  const texts: string[] = [];
  const model: ModelCall = async ({ messages }: MessagesRequest) => {
    const [block] = messages[0]!.content as readonly TextBlock[]; // a prompt is one text
    texts.push(block!.text);
    return replyOf();
  };
  await (intercept ?? goOn)(request, model, nowhere);
  return texts;
}

describe('a Completions request', () => {
  it('makes a user message of its prompt', () => {
    const { request, stream, dropped } = decode({
      prompt: 'Say',
      max_tokens: 5,
      stop: 'x',
      stream: true,
      user: 'u',
    });
    expect(request).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say' }] }],
      max_tokens: 5,
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
    });
    expect({ stream, dropped }).to.deep.equal({ stream: true, dropped: [] });
  });

  it('makes one call for each prompt, n times, in the order of the choices', async () => {
    expect(await callsOf({ prompt: 'a' })).to.deep.equal(['a']);
    expect(await callsOf({ prompt: ['a'], n: 2 })).to.deep.equal(['a', 'a']);
    expect(await callsOf({ prompt: ['a', 'b'], n: 2 })).to.deep.equal(['a', 'a', 'b', 'b']);
  });

  it('keeps suffix, best_of and seed for the upstream, and reports logprobs, which Chat counts otherwise', () => {
    const asked = { prompt: 'a', suffix: 's', best_of: 3, seed: 7, logprobs: 0, echo: true };
    const { request, dropped } = decode(asked);
    expect(extrasOf(request)).to.deep.equal({ suffix: 's', best_of: 3, seed: 7 });
    expect(dropped).to.deep.equal(['logprobs']);
  });

  it('has a message for each prompt, and each call takes its own with what stages have put behind', async () => {
    const { request, intercept } = decode({ prompt: ['a', 'b'] });
    expect(request.messages).to.have.length(2);
    const seen: unknown[] = [];
    const model: ModelCall = async ({ messages }) => {
      seen.push(messages.map(({ content }) => (content as readonly TextBlock[])[0]!.text)); // all are one text
      return replyOf();
    };
    const polite = { role: 'user' as const, content: [{ type: 'text' as const, text: 'please' }] };
    const edited = { ...request, messages: [...request.messages, polite] };
    await intercept!(edited, model, nowhere);
    expect(seen).to.deep.equal([
      ['a', 'please'],
      ['b', 'please'],
    ]);
  });

  it('shows its prompts to the encoder', () => {
    expect(promptsOf({ prompt: 'a' })).to.deep.equal(['a']);
    expect(promptsOf({ prompt: ['a', 'b'] })).to.deep.equal(['a', 'b']);
  });

  for (const [prompt, message] of [
    [undefined, 'prompt: is required'],
    [[], 'prompt: must have at least one item'],
    [[1, 2], 'prompt: must be text: the gateway cannot read prompts made of token numbers'],
    [[[1, 2]], 'prompt: must be text: the gateway cannot read prompts made of token numbers'],
    [['a', {}], 'prompt[1]: must be a string or an array of strings'],
    [' ', 'prompt: must not be blank'],
  ] as const) {
    it(`is refused with the prompt ${JSON.stringify(prompt)}: "${message}"`, async () => {
      expect(await refusal(() => decode({ prompt }))).to.equal(message);
    });
  }

  it('is refused where it asks for more answers at once than anyone needs', async () => {
    expect(await refusal(() => decode({ prompt: ['a', 'b'], n: 100 }))).to.match(/^n: asks for 200 answers/);
  });
});

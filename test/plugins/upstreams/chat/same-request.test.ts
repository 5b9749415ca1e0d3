import { expect } from 'chai';
import * as fc from 'fast-check';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { capabilitiesOf } from '#plugins/upstreams/chat/capabilities.js';
import { chatRequest } from '#plugins/upstreams/chat/request/chat-request.js';
import { contextWith, recordedRequests } from '../../formats/contexts.js';
import { chatBodies } from './chat-bodies.js';
import { said } from './said.js';

const context = contextWith({ id: 'gpt', sampling: 'both' });
const openai = capabilitiesOf({ preset: 'openai', unsupported: 'report' }, 'slot-a');

/** The body that a Chat server gets for the body of a Chat client, and what is lost on its way. */
function passedOn(body: unknown) {
  const decoded = decodeChat(body, context);
  const { body: sent, losses } = chatRequest(decoded.request, openai);
  return { sent, dropped: [...decoded.dropped, ...losses] };
}

/** Recordings that say more than Messages can carry. */
const others = new Set([
  'json-object-mode-system.json', // an instruction in place of the mode
  'legacy-functions.json', // answered as tools
]);

describe('a Chat request on its way to a Chat server', () => {
  it('says what the client said, for generated requests', () => {
    fc.assert(
      fc.property(chatBodies, (body) => {
        const { sent, dropped } = passedOn(body);
        expect(said(sent)).to.deep.equal(said(body));
        expect(dropped).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });

  it('says what the client said, for recorded requests', function recorded() {
    const requests = recordedRequests('chat-requests');
    if (!requests) return this.skip();
    for (const [name, body] of requests) {
      if (others.has(name)) continue;
      const { sent } = passedOn({ ...(body as object), model: 'gpt' });
      expect(said(sent), name).to.deep.equal(said(body));
    }
  });
});

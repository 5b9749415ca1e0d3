import { expect } from 'chai';
import { GatewayError, type MessagesRequest } from '#src/plugin/index.js';
import { betaNames, flagsOf, sortBetas } from '#plugins/upstreams/bedrock/betas.js';
import { bedrockParts } from '#plugins/upstreams/bedrock/refused.js';
import { fittedCall } from '#plugins/upstreams/shared/messages/messages-call.js';
import { refusedIn } from '#plugins/upstreams/shared/losses/refused-part.js';
import { slotCall } from '../../../engine/slots/kit.js';

const known = new Set(betaNames);
const user = { role: 'user', content: 'Hi.' } as const;

/** Fields that have a beta flag which Bedrock refuses, and may take all the same. */
const request: MessagesRequest = {
  model: 'm',
  system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', scope: 'global' } as never }],
  messages: [user],
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'low' },
  context_management: { edits: [] },
};
const header = [
  'effort-2025-11-24',
  'context-management-2026-01-01',
  'thinking-display-updates-2026-08-18',
  'prompt-caching-scope-2026-01-05',
].join(',');

function found(message: string, flags = header) {
  const error = new GatewayError('validation_exception', message, { status: 400 });
  return refusedIn(
    bedrockParts(known, {}),
    error,
    slotCall({ request, headers: { 'anthropic-beta': flags } }),
  );
}

function sent(...without: string[]) {
  const leftOutFlags = flagsOf(sortBetas(header, known));
  return fittedCall(slotCall({ request, without: new Set(without) }), { leftOutFlags });
}

describe('a field whose flag Bedrock is not sent', () => {
  for (const [message, part] of [
    ['output_config: Extra inputs are not permitted', 'output_config.effort'],
    ['output_config.effort: Extra inputs are not permitted', 'output_config.effort'],
    ['context_management: Extra inputs are not permitted', 'context_management'],
    ['thinking.adaptive.display: Extra inputs are not permitted', 'thinking.display'],
  ] as const)
    it(`goes where it is refused, also of a Messages caller: ${message}`, () => {
      expect(found(message)).to.deep.equal({ without: part, isOfModel: true, isAsked: true });
      expect(found(message, 'interleaved-thinking-2025-05-14')).to.equal(undefined);
    });

  it('is sent until then', () => {
    const { thinking, output_config, context_management } = sent().request;
    const { thinking: asked, output_config: wanted, context_management: edits } = request;
    expect([thinking, output_config, context_management]).to.deep.equal([asked, wanted, edits]);
  });

  it('is left out from then on, and reported', () => {
    const { request: left, losses } = sent('output_config.effort', 'context_management', 'thinking.display');
    expect(left).to.not.have.any.keys('output_config', 'context_management');
    expect(left.thinking).to.deep.equal({ type: 'adaptive' });
    expect(losses.map(({ path }) => path)).to.include.members([
      'output_config.effort',
      'context_management',
      'thinking.display',
    ]);
  });

  it('is left out at once where it is the scope of a marker, which is refused without', () => {
    const { request: left, losses } = sent();
    expect(left.system).to.deep.equal([{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }]);
    expect(losses).to.deep.equal([{ path: 'system[0].cache_control.scope', kind: 'mend' }]);
  });
});

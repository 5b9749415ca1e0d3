import { expect } from 'chai';
import type { MessagesRequest, TextBlock } from '@gw2api/gateway/plugin';
import { withoutAttribution } from '#plugins/upstreams/shared/openai/attribution.js';
import { Dropped } from '#plugins/upstreams/shared/losses/dropped.js';

const header = 'x-anthropic-billing-header: cc_version=2.1.330.abc; cc_entrypoint=cli;';
const own: TextBlock = { type: 'text', text: 'You are Claude Code.' };

describe('the attribution block of Claude Code', () => {
  const run = (system: MessagesRequest['system'], settings = {}) => {
    const dropped = new Dropped();
    const request: MessagesRequest = { model: 'm', messages: [], ...(system !== undefined && { system }) };
    return { system: withoutAttribution(request, settings, dropped).system, losses: dropped.losses };
  };

  it('is left out where it comes first, and reported as a mend', () => {
    const { system, losses } = run([{ type: 'text', text: header }, own]);
    expect(system).to.deep.equal([own]);
    expect(losses).to.deep.equal([{ path: 'system[0]', kind: 'mend' }]);
    expect(run(header)).to.deep.equal({ system: [], losses: [{ path: 'system', kind: 'mend' }] });
  });

  it('takes no text with it that is merged into it', () => {
    const cache_control = { type: 'ephemeral' } as const;
    const merged = { type: 'text', text: `${header}\n\nBe brief.`, cache_control } as const;
    expect(run([merged]).system).to.deep.equal([{ ...merged, text: 'Be brief.' }]);
    expect(run(`${header}\nBe brief.`).system).to.deep.equal([{ type: 'text', text: 'Be brief.' }]);
  });

  it('stays where the slot keeps it, and where it is no first block', () => {
    const first = [{ type: 'text', text: header } as const, own];
    expect(run(first, { keepAttribution: true })).to.deep.equal({ system: first, losses: [] });
    const later = [own, { type: 'text', text: header } as const];
    expect(run(later)).to.deep.equal({ system: later, losses: [] });
    expect(run(undefined)).to.deep.equal({ system: undefined, losses: [] });
  });
});

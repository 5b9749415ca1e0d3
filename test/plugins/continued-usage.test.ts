import { expect } from 'chai';
import {
  continuePausedTurns,
  estimateTokens,
  type MessagesRequest,
  type ModelCall,
  type ModelReply,
  type StopReason,
} from '@gw2api/gateway/plugin';
import { collectEvents, eventsOf, messageEvents, replyOf, runStage } from '@gw2api/gateway/testing';
import usageMask from '#plugins/usage-mask.js';
import { fanOut } from '#plugins/formats/shared/fan-out.js';

const request = { model: 'm', messages: [] };
const additions = { system: [{ type: 'text', text: 'Be careful.' }], tools: [] } as const;
const added = estimateTokens(additions.system);

type Wrap = (request: MessagesRequest, call: ModelCall) => Promise<ModelReply>;

/** What the caller is told at the end of an answer that `reasons` calls make up, each of 1000 input tokens. */
async function reported(reasons: readonly StopReason[], ...intercepts: readonly Wrap[]) {
  const left = [...reasons];
  const ask = async () => {
    const stopReason = left.shift() ?? 'end_turn';
    return replyOf(eventsOf(messageEvents({ stopReason, usage: { input_tokens: 1000, output_tokens: 1 } })));
  };
  const call = intercepts.reduceRight<ModelCall>((inner, wrap) => (asked) => wrap(asked, inner), ask);
  const { state } = await runStage(usageMask, { state: { additions, request, reply: await call(request) } });
  const events = await collectEvents(state.reply.events);
  const usages = events.flatMap((event) =>
    event.type === 'message_delta' && event.usage ? [event.usage] : [],
  );
  return {
    shown: usages.map(({ input_tokens }) => input_tokens),
    masked: state.trace.usage.masked.input_tokens,
  };
}

describe('usage-mask, where a paused turn was continued', () => {
  it('takes the additions out of every call that the answer comes from', async () => {
    expect(await reported(['pause_turn', 'pause_turn'], continuePausedTurns(4))).to.deep.equal({
      shown: [3 * (1000 - added)],
      masked: 3 * added,
    });
  });

  it('takes them out once where nothing was continued', async () => {
    const { masked } = await reported([], continuePausedTurns(4));
    expect(masked).to.equal(added);
  });

  it('counts the calls of each of several answers by themselves', async () => {
    const { masked } = await reported(['pause_turn'], fanOut(2), continuePausedTurns(4));
    expect(masked).to.equal(3 * added);
  });
});

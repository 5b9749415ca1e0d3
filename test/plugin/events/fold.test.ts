import { expect } from 'chai';
import { foldMessage, mergeUsage } from '@gw2api/gateway/plugin';
import { end, made, messageStart, text, tool } from '../../plugins/formats/events.js';
import { codeOf, fixture, fixtureNames, replyOf } from '../../plugins/formats/streams.js';

const fold = (events: Parameters<typeof replyOf>[0]) => foldMessage(replyOf(events).events);

describe('foldMessage', () => {
  const hasFixtures = fixtureNames().length > 0;

  it('gives a tool without arguments an empty input', async () => {
    const message = await fold([...made(messageStart()), ...tool('toolu_1', 'f', ''), ...end('tool_use')]);
    expect(message.content[0]).to.have.deep.property('input', {});
  });

  it('takes an input that stands complete in the block’s start', async function () {
    if (!hasFixtures) this.skip();
    const message = await fold(fixture('tool-search-regex'));
    expect(message.content.at(-1)).to.have.property('input').that.is.not.empty;
  });

  it('takes a message that stands complete in its start', async function () {
    if (!hasFixtures) this.skip();
    const message = await fold(fixture('programmatic-tool-calling-resume'));
    expect(message).to.include({ stop_reason: 'tool_use' });
    expect(message.content[0]).to.deep.include({ name: 'rollDie', input: { player: 'player2' } });
  });

  it('has the finished members of an input that max_tokens has cut', async function () {
    if (!hasFixtures) this.skip();
    const message = await fold(fixture('max-tokens-inside-tool-json'));
    expect(message.stop_reason).to.equal('max_tokens');
    expect(message.content.at(-1)).to.have.deep.property('input', { filename: 'taxes.txt' });
  });

  it('is not complete where a tool call is cut, whatever its stop reason says', async () => {
    for (const reason of ['tool_use', 'end_turn']) {
      const cut = tool('toolu_1', 'sh', '{"cmd":"rm -rf /tmp/a');
      const message = await fold([...made(messageStart()), ...cut, ...end(reason)]);
      expect(message.stop_reason).to.equal('max_tokens');
      expect(message.content[0]).to.have.deep.property('input', {});
    }
    const whole = tool('toolu_1', 'sh', '{"cmd":"ls"}');
    const message = await fold([...made(messageStart()), ...whole, ...end('tool_use')]);
    expect(message.stop_reason).to.equal('tool_use');
  });

  it('has an object of an input that a block begins with as a text', async () => {
    const content_block = { type: 'tool_use', id: 'a', name: 'f', input: '{"x":1,"y":"' } as const;
    const start = { type: 'content_block_start', index: 0, content_block } as const;
    const message = await fold([...made(messageStart(), start), ...end('tool_use')]);
    expect(message.content[0]).to.have.deep.property('input', { x: 1 });
    expect(message.stop_reason).to.equal('max_tokens');
  });

  it('has no content where there were no blocks', async function () {
    if (!hasFixtures) this.skip();
    const message = await fold(fixture('refusal-before-any-block'));
    expect(message).to.deep.include({ content: [], stop_reason: 'refusal' });
    expect(message).to.have.nested.property('stop_details.category', 'cyber');
  });

  it('joins the pieces of a signature', async () => {
    const message = await fold(
      made(
        messageStart(),
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'a+' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'b=' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_stop' },
      ),
    );
    expect(message.content).to.deep.equal([{ type: 'thinking', thinking: '', signature: 'a+b=' }]);
  });

  it('has what message_delta carries beside the usage at the top', async function () {
    if (!hasFixtures) this.skip();
    const managed = await fold(fixture('clear-thinking-context-management'));
    expect(managed).to.have.property('context_management');
    expect(await fold(fixture('code-execution-prompt-cache-container'))).to.have.nested.property(
      'container.id',
    );
  });

  it('leaves out citations that are null', async () => {
    const message = await fold(
      made(
        messageStart(),
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'text', text: 'Hi', citations: null },
        },
        { type: 'message_stop' },
      ),
    );
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Hi' }]);
  });

  it('takes the first of several starts', async function () {
    if (!hasFixtures) this.skip();
    const message = await fold(fixture('anomaly-spliced-message-start'));
    expect(message.id).to.equal('msg_first');
  });

  it('folds the choice that it is told to', async () => {
    const one = [...made(messageStart()), ...text('one'), ...end('end_turn')];
    const two = [...made(messageStart()), ...text('two'), ...end('end_turn')].map((event) =>
      event.withChoice(1),
    );
    const message = await foldMessage(replyOf([...two, ...one]).events, 1);
    expect(message.content).to.deep.equal([{ type: 'text', text: 'two' }]);
  });

  it('throws what an error event says, and where the events just end', async () => {
    const error = made({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } });
    expect(await codeOf(fold([...made(messageStart()), ...error]))).to.equal('overloaded_error');
    expect(await codeOf(fold(made(messageStart())))).to.equal('upstream_interrupted');
  });
});

describe('mergeUsage', () => {
  it('takes each field from the last report that has it, explicit zeros included, nulls not', () => {
    expect(
      mergeUsage(
        { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 },
        { input_tokens: 0, cache_read_input_tokens: null, output_tokens: 7 },
      ),
    ).to.deep.equal({ input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 7 });
  });
});

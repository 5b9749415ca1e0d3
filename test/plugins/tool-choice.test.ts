import { expect } from 'chai';
import { isForcedTool, type MessagesRequest, type ToolChoice } from '@gw2api/gateway/plugin';
import { fakeHost, fakeModels, runStage } from '@gw2api/gateway/testing';
import toolChoice, { unforced } from '#plugins/tool-choice.js';

describe('tool-choice', () => {
  const schema = {
    type: 'object',
    properties: { at: { type: 'array', items: { type: 'object', properties: { x: {} } } } },
  };
  const tools = [
    { name: 'look', input_schema: schema },
    { name: 'other', input_schema: schema },
  ];
  const asking = (tool_choice: unknown, more: object = {}) =>
    ({ model: 'sonnet-5-5', messages: [], tools, tool_choice, ...more }) as MessagesRequest;

  it('sends any, tool and required as auto', () => {
    for (const type of ['any', 'tool', 'required'])
      expect(unforced(asking({ type, name: 'nobody' })).tool_choice).to.deep.equal({ type: 'auto' });
  });

  it('keeps disable_parallel_tool_use', () => {
    const choice: ToolChoice = { type: 'any', disable_parallel_tool_use: true };
    expect(unforced(asking(choice)).tool_choice).to.deep.equal({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
  });

  it('marks the named tool as strict, its schema left to the upstream, and no other', () => {
    const { tools: sent = [] } = unforced(asking({ type: 'tool', name: 'look' }));
    const [look, other] = sent;
    expect(look).to.deep.include({ name: 'look', strict: true, input_schema: schema });
    expect(isForcedTool({ ...look })).to.equal(true);
    expect(JSON.parse(JSON.stringify(look))).to.deep.equal({ ...tools[0], strict: true });
    expect(other).to.equal(tools[1]);
  });

  it('leaves a server tool as it is', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const request = asking({ type: 'tool', name: 'web_search' }, { tools: [search] });
    expect(unforced(request).tools).to.deep.equal([search]);
  });

  it('leaves auto, none and no choice alone', () => {
    for (const choice of [{ type: 'auto' }, { type: 'none' }, undefined, null]) {
      const request = asking(choice);
      expect(unforced(request)).to.equal(request);
    }
  });

  it('does not break on tools that nobody has checked', () => {
    for (const odd of [null, 5, { a: 1 }, [null], [{}]]) {
      const request = asking({ type: 'tool', name: 'look' }, { tools: odd });
      expect(unforced(request).tools).to.deep.equal(odd);
    }
  });

  it('changes only requests to models without forced tool choice', async () => {
    const host = fakeHost({
      models: fakeModels({ id: 'sonnet-5-5', forcedToolChoice: false }, { id: 'sonnet-5' }),
    });
    const run = (model: string) =>
      runStage(toolChoice, { host, state: { request: asking({ type: 'any' }, { model }) } });
    expect((await run('sonnet-5-5')).state.request.tool_choice).to.deep.equal({ type: 'auto' });
    expect((await run('sonnet-5')).state.request.tool_choice).to.deep.equal({ type: 'any' });
    expect((await run('unknown')).state.request.tool_choice).to.deep.equal({ type: 'any' });
  });
});

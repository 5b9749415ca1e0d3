import { expect } from 'chai';
import type { GatewayState, MessagesRequest } from '@gw2api/gateway/plugin';
import { fakeHost, fakeModels, runStage } from '@gw2api/gateway/testing';
import webSearchTool, { hasRoom } from '#plugins/web-search-tool.js';
import { countedPart } from './formats/counted-fields.js';

describe('web-search-tool', () => {
  const tool = { type: 'web_search_20250305', name: 'web_search' };
  const own = { name: 'look', input_schema: {} };

  it('adds the tool after those of the caller, and records it', async () => {
    const { state } = await run({ request: asking({ tools: [own] }) });
    expect(state.request.tools).to.deep.equal([own, tool]);
    expect(state.additions.tools).to.deep.equal([tool]);
  });

  it('takes its type and the most searches from the operator', async () => {
    const options = { type: 'web_search_2027', maxUses: 3 };
    const { state } = await run({}, { options });
    expect(state.request.tools).to.deep.equal([{ type: 'web_search_2027', name: 'web_search', max_uses: 3 }]);
  });

  it('adds nothing with x-gw-web-search: false', async () => {
    const request = asking({});
    const { state } = await run({ request }, { headers: { 'x-gw-web-search': 'false' } });
    expect(state.request).to.equal(request);
    expect(state.additions.tools).to.deep.equal([]);
  });

  it('answers 400 to any other value of that header than true', async () => {
    expect((await run({}, { headers: { 'x-gw-web-search': 'true' } })).nextCalled).to.equal(true);
    const { status, body } = await run({}, { headers: { 'x-gw-web-search': 'no' } });
    expect(status).to.equal(400);
    const message = 'x-gw-web-search: must be "true" or "false", not "no".';
    expect(body).to.have.nested.property('error.message', message);
  });

  it('gives way to a tool of that name or kind', () => {
    expect(hasRoom(asking({ tools: [{ name: 'web_search', input_schema: {} }] }), undefined)).to.equal(false);
    expect(hasRoom(asking({ tools: [{ type: 'web_search_2027', name: 'x' }] }), undefined)).to.equal(false);
    expect(hasRoom(asking({ tools: [own] }), undefined)).to.equal(true);
  });

  it('stays where a tool is forced by name or all are forbidden, as a prompt cache holds so; any leaves it out', () => {
    for (const type of ['any', 'required'])
      expect(hasRoom(asking({ tool_choice: { type } }), undefined)).to.equal(false);
    for (const type of ['auto', 'tool', 'none'])
      expect(hasRoom(asking({ tool_choice: { type } }), undefined)).to.equal(true);
    expect(hasRoom(asking({ tool_choice: null }), undefined)).to.equal(true);
  });

  it('does not break on tools that nobody has checked', () => {
    for (const tools of [5, { a: 1 }]) expect(hasRoom(asking({ tools }), undefined)).to.equal(false);
    for (const tools of [null, [null, 5, 'a']]) expect(hasRoom(asking({ tools }), undefined)).to.equal(true);
  });

  it('looks at the name and the type of a tool alone', () => {
    const { part, looks } = countedPart(own, 1000);
    expect(hasRoom(asking({ tools: [part] }), undefined)).to.equal(true);
    expect(looks()).to.equal(0);
  });

  it('adds nothing for a model that cannot search', async () => {
    const host = fakeHost({ models: fakeModels({ id: 'test-model', webSearch: false }) });
    expect((await run({}, { host })).state.request.tools).to.equal(undefined);
  });
});

function asking(more: object): MessagesRequest {
  return { model: 'test-model', messages: [], ...more };
}

function run(state: Partial<GatewayState>, more: Parameters<typeof runStage>[1] = {}) {
  return runStage(webSearchTool, { ...more, state: { request: asking({}), ...state } });
}

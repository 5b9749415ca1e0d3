import { expect } from 'chai';
import type { MessagesRequest, ToolChoice } from 'gw2api/plugin';
import { fakeHost, fakeModels, runStage } from 'gw2api/testing';
import { strictSchemaProblem } from '#plugins/upstreams/simulator/schema-rules.js';
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
      expect(unforced(asking({ type, name: 'nobody' })).request.tool_choice).to.deep.equal({ type: 'auto' });
  });

  it('keeps disable_parallel_tool_use', () => {
    const choice: ToolChoice = { type: 'any', disable_parallel_tool_use: true };
    expect(unforced(asking(choice)).request.tool_choice).to.deep.equal({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
  });

  it('makes the named tool strict, its schema closed all the way down, and no other', () => {
    const { request, changed } = unforced(asking({ type: 'tool', name: 'look' }));
    const [look, other] = request.tools!;
    expect(changed).to.deep.equal(['tools[0].input_schema.additionalProperties']);
    expect(look).to.deep.equal({
      name: 'look',
      strict: true,
      input_schema: {
        type: 'object',
        additionalProperties: false,
        properties: {
          at: {
            type: 'array',
            items: { type: 'object', properties: { x: {} }, additionalProperties: false },
          },
        },
      },
    });
    expect(other).to.equal(tools[1]);
  });

  it('puts into words what strict schemas cannot say, and closes even a map', () => {
    const parameters = {
      type: 'object',
      properties: {
        count: { type: 'integer', minimum: 1 },
        byName: { type: 'object', additionalProperties: { type: 'string' } },
        again: { $ref: '#' },
      },
      additionalProperties: false,
    };
    const asked = asking({ type: 'tool', name: 'a' }, { tools: [{ name: 'a', input_schema: parameters }] });
    const { request, changed } = unforced(asked);
    expect(request.tools![0]).to.deep.equal({
      name: 'a',
      strict: true,
      input_schema: {
        type: 'object',
        properties: {
          count: { type: 'integer', description: '{minimum: 1}' },
          byName: { type: 'object', properties: {}, additionalProperties: false },
          again: { type: 'object', properties: {}, additionalProperties: false, description: '{$ref: "#"}' },
        },
        additionalProperties: false,
      },
    });
    expect(changed).to.deep.equal([
      'tools[0].input_schema.minimum',
      'tools[0].input_schema.additionalProperties',
      'tools[0].input_schema.$ref',
    ]);
  });

  it('sends a schema that the upstream takes, whatever it was made of', () => {
    const a = { $ref: '#/$defs/a' };
    for (const schema of [
      {},
      { type: 'object' },
      { properties: { x: { type: 'string', maxLength: 3 } } },
      { anyOf: [{ type: 'object', properties: {} }] },
      { type: 'object', properties: { x: { allOf: [a, a] } }, $defs: { a: { type: 'string' } } },
      { ...a, $defs: { a: { type: 'object', properties: { x: { type: 'string' } } } } },
      { ...a, $defs: { a: { type: 'object', properties: { x: a } } } },
    ]) {
      const asked = asking({ type: 'tool', name: 'a' }, { tools: [{ name: 'a', input_schema: schema }] });
      const { input_schema: sent } = unforced(asked).request.tools![0]!;
      expect(sent).to.include({ type: 'object', additionalProperties: false });
      expect(strictSchemaProblem(sent), JSON.stringify(schema)).to.equal(undefined);
    }
  });

  it('reports what it changed in x-gw-dropped', async () => {
    const host = fakeHost({ models: fakeModels({ id: 'sonnet-5-5', forcedToolChoice: false }) });
    const state = { request: asking({ type: 'tool', name: 'look' }) };
    const { headers } = await runStage(toolChoice, { host, state });
    expect(headers['x-gw-dropped']).to.equal('tools[0].input_schema.additionalProperties');
  });

  it('leaves a server tool as it is', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const request = asking({ type: 'tool', name: 'web_search' }, { tools: [search] });
    expect(unforced(request).request.tools).to.deep.equal([search]);
  });

  it('leaves auto, none and no choice alone', () => {
    for (const choice of [{ type: 'auto' }, { type: 'none' }, undefined, null]) {
      const request = asking(choice);
      expect(unforced(request).request).to.equal(request);
    }
  });

  it('does not break on tools that nobody has checked', () => {
    for (const odd of [null, 5, { a: 1 }, [null], [{}]]) {
      const request = asking({ type: 'tool', name: 'look' }, { tools: odd });
      expect(unforced(request).request.tools).to.deep.equal(odd);
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

import { expect } from 'chai';
import type { CatalogModel, MessagesRequest } from '@gw2api/gateway/plugin';
import { decodeChat } from '#plugins/formats/chat/request.js';
import { contextWith } from './contexts.js';
import { narrowed } from '../../plugin/narrowing/narrowed.js';

const user = { role: 'user', content: 'Hi' };
const tools = [{ type: 'function', function: { name: 'f' } }];

function decode(model: Partial<CatalogModel>, fields: object) {
  const body = { model: model.id ?? 'm', messages: [user], ...fields };
  const decoded = decodeChat(body, contextWith({ ...model, id: 'm' }));
  const { request, losses } = narrowed(unforced(model, decoded.request), model);
  const { thinking, output_config, temperature, top_p, top_k } = request;
  const dropped = [...decoded.dropped, ...losses.map((path) => decoded.pathOf?.(path) ?? path)];
  return { thinking, output_config, temperature, top_p, top_k, dropped };
}

/** The request as tool-choice leaves it. */
function unforced({ forcedToolChoice }: Partial<CatalogModel>, request: MessagesRequest): MessagesRequest {
  return forcedToolChoice === false ? { ...request, tool_choice: { type: 'auto' } } : request;
}

/** A conversation in the middle of a tool loop, whose call comes with `fields`. */
function toolLoop(fields: object) {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '' } };
  return [
    user,
    { role: 'assistant', tool_calls: [call], ...fields },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ];
}

const nothing = {
  thinking: undefined,
  output_config: undefined,
  temperature: undefined,
  top_p: undefined,
  top_k: undefined,
  dropped: [] as string[],
};

describe('reasoning effort', () => {
  describe('of a model that thinks as much as it takes', () => {
    for (const [effort, upstream] of Object.entries({
      minimal: 'low',
      low: 'low',
      medium: 'medium',
      high: 'high',
      xhigh: 'xhigh',
      max: 'max',
    })) {
      it(`${effort} is adaptive thinking with effort ${upstream}`, () => {
        expect(decode({ thinking: 'adaptive' }, { reasoning_effort: effort })).to.deep.equal({
          ...nothing,
          thinking: { type: 'adaptive' },
          output_config: { effort: upstream },
          dropped: effort === upstream ? [] : ['reasoning_effort'],
        });
      });
    }

    it('turns thinking off with none', () => {
      expect(decode({}, { reasoning_effort: 'none' })).to.deep.equal({
        ...nothing,
        thinking: { type: 'disabled' },
      });
    });

    it('keeps the effort but not the thinking beside a forced tool choice', () => {
      expect(decode({}, { reasoning_effort: 'high', tools, tool_choice: 'required' })).to.deep.equal({
        ...nothing,
        output_config: { effort: 'high' },
        dropped: ['reasoning_effort'],
      });
    });

    it('keeps both where the model is not forced natively', () => {
      const fields = { reasoning_effort: 'high', tools, tool_choice: 'required' };
      expect(decode({ forcedToolChoice: false }, fields).thinking).to.deep.equal({ type: 'adaptive' });
    });

    it('stands beside a schema', () => {
      const schema = { type: 'object', properties: {}, additionalProperties: false };
      const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
      expect(decode({}, { reasoning_effort: 'low', response_format }).output_config).to.deep.equal({
        effort: 'low',
        format: { type: 'json_schema', name: 'x', schema },
      });
    });

    it('is reported where nobody knows it', () => {
      expect(decode({}, { reasoning_effort: 'huge' })).to.deep.equal({
        ...nothing,
        dropped: ['reasoning_effort'],
      });
    });
  });

  for (const [thinking, dropped] of [
    [{ type: 'enabled' }, []],
    [{ type: 'adaptive', display: 'summarized' }, []],
    [{ type: 'adaptive', display: 'omitted' }, []],
    [{ type: 'enabled', budget_tokens: 2000 }, []],
    [{ type: 'disabled' }, ['thinking']],
  ] as const)
    it(`beside thinking ${JSON.stringify(thinking)} reports what is not honoured of that`, () => {
      const plan = decode({ thinking: 'adaptive' }, { reasoning_effort: 'high', thinking });
      expect(plan).to.deep.include({ output_config: { effort: 'high' }, dropped });
      expect(plan.thinking).to.include({ type: 'adaptive' });
      expect(plan.thinking?.['display']).to.equal('display' in thinking ? thinking.display : undefined);
    });

  it('none beside thinking that is off agrees with it', () => {
    const off = { thinking: { type: 'disabled' } };
    expect(decode({}, { reasoning_effort: 'none', ...off })).to.deep.equal({ ...nothing, ...off });
    const on = { reasoning_effort: 'none', thinking: { type: 'enabled' } };
    expect(decode({}, on)).to.deep.equal({ ...nothing, ...off, dropped: ['thinking'] });
  });

  for (const [fields, thinking, dropped] of [
    [{ reasoning: { enabled: false, max_tokens: 2000 } }, 'disabled', 'reasoning.max_tokens'],
    [{ reasoning: { effort: 'none', enabled: true } }, 'disabled', 'reasoning.enabled'],
    [{ reasoning_effort: 'none', reasoning: { enabled: true } }, 'disabled', 'reasoning.enabled'],
    [{ reasoning_effort: 'none', reasoning: { max_tokens: 2000 } }, 'disabled', 'reasoning.max_tokens'],
    [{ reasoning_effort: 'high', reasoning: { enabled: false } }, 'adaptive', 'reasoning.enabled'],
    [{ thinking: { type: 'adaptive', budget_tokens: 2000 } }, 'adaptive', 'thinking.budget_tokens'],
    [{ thinking: { type: 'disabled', budget_tokens: 2000 } }, 'disabled', 'thinking.budget_tokens'],
    [{ thinking: { type: 'disabled' }, reasoning: { max_tokens: 2000 } }, 'disabled', 'reasoning.max_tokens'],
  ] as const)
    it(`of ${JSON.stringify(fields)} reports ${dropped}, which another field overrides`, () => {
      const plan = decode({ thinking: 'adaptive' }, fields);
      expect(plan.thinking).to.deep.equal({ type: thinking });
      expect(plan.dropped).to.deep.equal([dropped]);
    });

  for (const fields of [
    { reasoning_effort: 'none', reasoning: { enabled: false } },
    { reasoning_effort: 'high', reasoning: { enabled: true } },
    { reasoning: { effort: 'none', enabled: false } },
    { reasoning: { effort: 'high', enabled: true } },
  ])
    it(`of ${JSON.stringify(fields)} reports nothing, as they agree`, () => {
      expect(decode({ thinking: 'adaptive' }, fields).dropped).to.deep.equal([]);
    });

  describe('of a model that thinks within a budget', () => {
    const model = { thinking: 'budget', maxTokens: 8000 } as const;

    for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']) {
      it(`${effort} is a budget of at least 1024 and below max_tokens`, () => {
        for (const max_tokens of [1025, 2000, 64_000, undefined]) {
          const { thinking } = decode(model, { reasoning_effort: effort, max_tokens });
          if (thinking?.type !== 'enabled') return expect.fail('There is no budget.');
          expect(thinking.budget_tokens)
            .to.be.at.least(1024)
            .and.below(max_tokens ?? model.maxTokens);
        }
      });
    }

    it('is reported where max_tokens leaves no room', () => {
      expect(decode(model, { reasoning_effort: 'low', max_tokens: 1024 })).to.deep.equal({
        ...nothing,
        dropped: ['reasoning_effort'],
      });
    });

    it('is reported within a tool loop that began without a thought', () => {
      const without = decode(model, { reasoning_effort: 'low', tools, messages: toolLoop({}) });
      expect(without).to.deep.equal({ ...nothing, dropped: ['reasoning_effort'] });
      const reasoning_details = [{ type: 'reasoning.text', text: 't', signature: 's' }];
      const messages = toolLoop({ reasoning_details });
      expect(decode(model, { reasoning_effort: 'low', tools, messages }).thinking?.type).to.equal('enabled');
    });

    it('is reported beside a forced tool choice', () => {
      const { thinking, dropped } = decode(model, {
        reasoning_effort: 'low',
        tools,
        tool_choice: 'required',
      });
      expect({ thinking, dropped }).to.deep.equal({ thinking: undefined, dropped: ['reasoning_effort'] });
    });
  });

  it('of a model that does not think is reported', () => {
    expect(decode({ thinking: 'none' }, { reasoning_effort: 'low' })).to.deep.equal({
      ...nothing,
      dropped: ['reasoning_effort'],
    });
    expect(decode({ thinking: 'none' }, { reasoning_effort: 'none' })).to.deep.equal(nothing);
  });
});

describe('sampling', () => {
  const sampling = { temperature: 0.5, top_p: 0.9, top_k: 10 };

  it('goes through', () => {
    expect(decode({ sampling: 'both' }, sampling)).to.deep.equal({ ...nothing, ...sampling });
  });

  it('has a temperature of 1 at most', () => {
    expect(decode({}, { temperature: 1.5 })).to.deep.equal({
      ...nothing,
      temperature: 1,
      dropped: ['temperature'],
    });
  });

  it('loses a top_p of 1 beside a temperature, where it says nothing', () => {
    expect(decode({}, { temperature: 1, top_p: 1 })).to.deep.equal({ ...nothing, temperature: 1 });
    expect(decode({}, { top_p: 1 })).to.deep.equal({ ...nothing, top_p: 1 });
  });

  it('is left out and reported where the model takes none', () => {
    expect(decode({ sampling: false }, sampling)).to.deep.equal({
      ...nothing,
      dropped: ['temperature', 'top_p', 'top_k'],
    });
    expect(decode({ sampling: false }, { temperature: 1, top_p: 1 })).to.deep.equal(nothing);
  });

  for (const sampling of [true, 'both'] as const)
    it(`goes through where the model takes ${sampling}`, () => {
      expect(decode({ sampling }, { temperature: 0.5, top_p: 0.9 })).to.include({
        temperature: 0.5,
        top_p: 0.9,
      });
    });

  it('is the temperature where the model takes one of the two, and top_p is reported', () => {
    const oneOfTwo = { ...nothing, temperature: 0.5, top_k: 10, dropped: ['top_p'] };
    expect(decode({ sampling: 'one' }, sampling)).to.deep.equal(oneOfTwo);
    expect(decode({ sampling: 'one' }, { top_p: 0.9 })).to.deep.equal({ ...nothing, top_p: 0.9 });
    expect(decode({ sampling: 'one' }, { temperature: 1, top_p: 1 })).to.deep.equal({
      ...nothing,
      temperature: 1,
    });
  });

  it('is the temperature alone for a model that nobody knows', () => {
    expect(decode({ id: 'unknown' }, { temperature: 0.5, top_p: 0.9 })).to.deep.equal({
      ...nothing,
      temperature: 0.5,
      dropped: ['top_p'],
    });
  });

  it('is left out where the model takes none', () => {
    expect(decode({ sampling: 'none' }, { top_p: 0.9 })).to.deep.equal({ ...nothing, dropped: ['top_p'] });
  });

  it('is left out and reported while the model thinks', () => {
    expect(decode({}, { ...sampling, reasoning_effort: 'low' })).to.deep.include({
      temperature: undefined,
      top_p: undefined,
      top_k: undefined,
      dropped: ['temperature', 'top_p', 'top_k'],
    });
    expect(decode({}, { top_p: 0.97, reasoning_effort: 'low' })).to.deep.include({
      top_p: 0.97,
      dropped: [],
    });
    expect(decode({ sampling: 'both' }, { ...sampling, reasoning_effort: 'none' })).to.deep.include(sampling);
  });
});

import { expect } from 'chai';
import {
  GatewayError,
  type MessagesRequest,
  type SlotCall,
  type TextBlock,
  type Tool,
} from '#src/plugin/index.js';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';
import { asForcedTool } from '@gw2api/gateway/plugin';
import { fittedCall } from '#plugins/upstreams/shared/messages/messages-call.js';
import { messagesParts } from '#plugins/upstreams/shared/messages/messages-refused.js';
import { sealReasoning } from '#plugins/upstreams/shared/reasoning-envelope.js';
import { refusedIn } from '#plugins/upstreams/shared/losses/refused-part.js';
import { slotCall } from '../../../engine/slots/kit.js';

const own: Tool = { type: 'web_search_20250305', name: 'web_search' };
const look: Tool = { name: 'look', input_schema: { type: 'object' } };
const user = { role: 'user', content: 'Hi.' } as const;

function callOf(request: Partial<MessagesRequest>, changes: Partial<SlotCall> = {}): SlotCall {
  return slotCall({ request: { model: 'm', messages: [user], ...request }, ...changes });
}

function marker(ttl?: '5m' | '1h', scope?: string): CacheControl {
  return { type: 'ephemeral', ...(ttl && { ttl }), ...(scope && { scope }) };
}

const scopeFlag = 'prompt-caching-scope-2026-01-05';
const system = (mark: CacheControl) => [{ type: 'text', text: 'S', cache_control: mark } as const];
const without = (...entries: string[]) => ({ without: new Set(entries) });

describe('a call for a service of the Messages API', () => {
  it('is the request itself where the service has all of the API', () => {
    const call = callOf({ tools: [own], cache_control: marker('1h') });
    expect(fittedCall(call, {}).request).to.equal(call.request);
  });

  it('has no server tool that the service does not run, but for one of a Messages caller', () => {
    const tools = [look, own];
    const runsNone = { serverTools: [] };
    const ours = fittedCall(callOf({ tools }, { addedTools: [own] }), runsNone);
    expect([ours.request.tools, ours.leftOut, ours.losses]).to.deep.equal([[look], [own], []]);
    const translated = fittedCall(callOf({ tools }, { isTranslated: true }), runsNone);
    expect([translated.request.tools, translated.leftOut, translated.losses]).to.deep.equal([
      [look],
      [],
      [{ path: 'tools[1]', kind: 'setting' }],
    ]);
    const theirs = callOf({ tools });
    expect(fittedCall(theirs, runsNone).request).to.equal(theirs.request);
    expect(fittedCall(callOf({ tools }, { addedTools: [own] }), { serverTools: ['web_search'] }).leftOut).to
      .be.empty;
  });

  it('has neither tools nor a choice where none is left', () => {
    const call = callOf({ tools: [own], tool_choice: { type: 'auto' } }, { addedTools: [own] });
    expect(fittedCall(call, { serverTools: [] }).request).to.not.have.any.keys('tools', 'tool_choice');
  });

  it('may hold anything, for the service to refuse', () => {
    for (const tools of ['x', [null, 5, { type: 7 }], {}]) {
      const call = callOf({ tools: tools as never, messages: [null, 5, { content: [null] }] as never });
      const features = { serverTools: [], cacheTtl: false, leftOutFlags: [scopeFlag], topLevelMarker: false };
      expect(fittedCall(call, features).request).to.deep.equal(call.request);
    }
  });

  it('has the ttl of its caller alone where the service is known to take none', () => {
    const [given, said] = [marker('1h'), marker('1h')];
    const request = { system: system(given), tools: [{ ...look, cache_control: said }] };
    const call = callOf(request, { addedMarkers: new Map([[given, 'ttl']]) });
    const fitted = fittedCall(call, { cacheTtl: false }).request;
    expect(fitted.system).to.deep.equal(system(marker()));
    expect(fitted.tools?.[0]?.cache_control).to.equal(said);
    const translated = fittedCall(callOf(request, { isTranslated: true }), { cacheTtl: false });
    expect(translated.request.tools?.[0]?.cache_control).to.deep.equal(marker());
  });

  it('has the marker of the whole request on its last block where the service has none, four in all', () => {
    const fitted = (request: Partial<MessagesRequest>) =>
      fittedCall(callOf(request), { topLevelMarker: false }).request;
    const top = marker('1h');
    expect(fitted({ cache_control: top })).to.deep.equal({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.', cache_control: top }] }],
    });
    const four = Array.from({ length: 4 }, () => system(marker())[0]!);
    expect(fitted({ cache_control: top, system: four })).to.deep.equal({
      model: 'm',
      messages: [user],
      system: four,
    });
  });

  it('has no scope where its flag is left out, which is named by its place', () => {
    const result = {
      type: 'tool_result',
      tool_use_id: 'a',
      content: system(marker('5m', 'global')),
    } as const;
    const call = callOf({
      system: system(marker('1h', 'global')),
      messages: [{ role: 'user', content: [result] }],
    });
    const { request, losses } = fittedCall(call, { leftOutFlags: [scopeFlag] });
    expect(JSON.stringify(request)).to.not.include('scope');
    expect(request.system).to.deep.equal(system(marker('1h')));
    expect(losses.map(({ path }) => path)).to.deep.equal([
      'system[0].cache_control.scope',
      'messages[0].content[0].content[0].cache_control.scope',
    ]);
  });

  it('is without what the service has refused of the gateway’s own', () => {
    const [added, given, said] = [marker('1h'), marker('1h'), marker('1h')];
    const request = {
      tools: [own, { ...look, cache_control: said }],
      system: [...system(added), ...system(given)],
    };
    const addedMarkers = new Map([
      [added, 'marker'],
      [given, 'ttl'],
    ] as const);
    const fitted = (...entries: string[]) =>
      fittedCall(callOf(request, { addedTools: [own], addedMarkers, ...without(...entries) }), {});
    expect(fitted('web_search').leftOut).to.deep.equal([own]);
    expect(markersIn(fitted('cache_control.ttl').request)).to.deep.equal([marker(), marker(), said]);
    expect(markersIn(fitted('cache_control').request)).to.deep.equal([undefined, given, said]);
  });
});

describe('a limit that the gateway has set', () => {
  const limited = (request: Partial<MessagesRequest>, ...entries: string[]) =>
    fittedCall(callOf({ max_tokens: 128_000, ...request }, without(...entries)), {}).request;

  it('is at most what the service has named, as is one of the caller', () => {
    expect(limited({}, 'max_tokens=8000')).to.include({ max_tokens: 8000 });
    expect(limited({ max_tokens: 9 }, 'max_tokens=8000')).to.include({ max_tokens: 9 });
    expect(limited({ max_tokens: 'x' as never }, 'max_tokens=8000')).to.include({ max_tokens: 'x' });
  });

  it('leaves a budget for thinking its share, and one that fits as it is', () => {
    const thinking = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } }) as const;
    expect(limited(thinking(64_000), 'max_tokens=8000')).to.deep.include(thinking(4000));
    expect(limited(thinking(127_000), 'max_tokens=1100')).to.deep.include(thinking(1091));
    expect(limited(thinking(2000), 'max_tokens=1100')).to.deep.include(thinking(1024));
    expect(limited(thinking(1000), 'max_tokens=8000')).to.deep.include(thinking(1000));
  });
});

function refusal(message: string): GatewayError {
  const failure = { kind: 'status', status: 400, headers: {} } as const;
  return new GatewayError('invalid_request_error', message, { status: 400, failure });
}

function markersIn({ system: blocks, tools }: MessagesRequest) {
  return [...(Array.isArray(blocks) ? blocks : []), tools!.at(-1)!].map((part) => part.cache_control);
}

describe('the words of a service of the Messages API', () => {
  const given = marker('1h');
  const added = marker();
  const full = callOf(
    { tools: [look, own], system: [...system(given), ...system(added)] },
    {
      addedTools: [own],
      addedMarkers: new Map([
        [given, 'ttl'],
        [added, 'marker'],
      ]),
    },
  );
  const find = (message: string, call = full) =>
    refusedIn(messagesParts({}), refusal(message), call)?.without;

  for (const [message, part] of [
    [
      "tools.1: Input tag 'web_search_20250305' found using 'type' does not match any of the expected tags",
      'web_search',
    ],
    ['tools[1]: missing field `input_schema` at line 1 column 412', 'web_search'],
    ['body.tools.1.input_schema: Field required', 'web_search'],
    ['Malformed input request: #/tools/1: required key [input_schema] not found', 'web_search'],
    ['Web search is not enabled for this organization.', 'web_search'],
    ['system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted', 'cache_control.ttl'],
    ['system.1.cache_control: Extra inputs are not permitted', 'cache_control'],
    ['system.0.cache_control.ephemeral.scope: Extra inputs are not permitted', undefined],
    ['tools.0.input_schema: JSON schema is invalid', undefined],
    ['messages: at least one message is required', undefined],
  ] as const)
    it(`${message} are about ${part ?? 'nothing of the gateway'}`, () =>
      expect(find(message)).to.equal(part));

  it('name the limit of a model where the gateway has set one, and what one request has left of its context', () => {
    const part = (message: string, changes: Partial<SlotCall> = { addedLimit: true }) =>
      refusedIn(messagesParts({}), refusal(message), callOf({ max_tokens: 128_000 }, changes));
    const ofModel = 'max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for m';
    expect(part(ofModel)).to.deep.equal({ without: 'max_tokens=64000', isOfModel: true, isAsked: false });
    expect(part('input length and `max_tokens` exceed context limit: 120000 + 128000 > 200000')).to.include({
      without: 'max_tokens=80000',
      isOfModel: false,
    });
    expect(part(ofModel, {})).to.equal(undefined);
    expect(part(ofModel, { isTranslated: true })).to.deep.equal({
      without: 'max_tokens=64000',
      isOfModel: true,
      isAsked: true,
    });
  });

  it('have no thinking of other vendors, which a Messages caller is told as well', () => {
    const signature = sealReasoning({ vendor: 'deepseek' });
    const use = { type: 'tool_use', id: 'a', name: 'f', input: {} } as const;
    const messages = [
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature }, use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
    ] as const;
    const thinking = { type: 'enabled', budget_tokens: 2000 } as const;
    const { request, losses } = fittedCall(callOf({ messages, thinking }), {});
    expect(request.messages).to.deep.equal([{ role: 'assistant', content: [use] }, messages[1]]);
    expect(request).to.not.have.property('thinking');
    expect(losses).to.deep.equal([
      { path: 'thinking', kind: 'setting' },
      { path: 'messages[0].content[0]', kind: 'mend' },
    ]);
    const signed = callOf({ messages: [messages[1]], thinking });
    expect(fittedCall(signed, {})).to.deep.include({ request: signed.request, losses: [] });
  });

  describe('about what translation has chosen', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const;
    const format = { output_config: { format: { type: 'json_schema', schema } } } as const;
    const strict: Tool = { ...look, strict: true };
    const part = (
      message: string,
      request: Partial<MessagesRequest>,
      { features = {}, ...changes }: Partial<SlotCall> & { readonly features?: object } = {},
    ) =>
      refusedIn(
        messagesParts(features),
        refusal(message),
        callOf(request, { isTranslated: true, ...changes }),
      );

    for (const [message, isOfModel] of [
      ['output_config: Extra inputs are not permitted', true],
      ['output_config.format: Extra inputs are not permitted', true],
      ['output_format: Extra inputs are not permitted', true],
      ['Structured outputs are not supported by this model.', true],
      ["Unknown parameter: 'output_config'", true],
      ['The compiled grammar is too large', false],
      ["output_config.format.schema: property 'format' is not supported", false],
    ] as const)
      it(`"${message}" are about the output format, ${isOfModel ? 'of any' : 'of this'} request`, () => {
        expect(part(message, format)).to.deep.equal({ without: 'output_format', isOfModel, isAsked: true });
        expect(part(message, {})).to.equal(undefined);
        expect(part(message, format, { isTranslated: false })).to.equal(undefined);
        expect(part(message, format, { features: { structuredOutput: false } })?.without).to.not.equal(
          'output_format',
        );
      });

    it('are about the format alone beside tools that are strict', () => {
      const request = { ...format, tools: [strict] };
      expect(part('output_config: Extra inputs are not permitted', request)?.without).to.equal(
        'output_format',
      );
    });

    it('are about no strict that the service is not sent', () => {
      const message = 'The compiled grammar is too large';
      expect(part(message, { tools: [strict] })?.without).to.equal('strict');
      expect(part(message, { tools: [strict] }, { features: { strictTools: false } })).to.equal(undefined);
    });

    it('name an effort beside a format, which is in the same field', () => {
      const request = { output_config: { ...format.output_config, effort: 'low' } };
      const message = 'output_config.effort: Extra inputs are not permitted';
      expect(part(message, request)?.without).to.equal('thinking=budget');
    });

    it('name the efforts that a model has', () => {
      const message = "output_config.effort: Input should be 'low', 'medium', 'high' or 'max'";
      expect(part(message, { output_config: { effort: 'xhigh' } })).to.deep.equal({
        without: 'efforts=low,medium,high,max',
        isOfModel: true,
        isAsked: true,
      });
    });

    it('name a field that no request of the model may have', () => {
      const message = 'Malformed input request: #: extraneous key [output_config] is not permitted';
      expect(part(message, { output_config: { effort: 'high' } })).to.include({ isOfModel: true });
    });

    it('lower a limit of the caller, reported', () => {
      const call = callOf({ max_tokens: 128_000 }, { isTranslated: true, ...without('max_tokens=64000') });
      const { request, losses } = fittedCall(call, {});
      expect(request.max_tokens).to.equal(64_000);
      expect(losses).to.deep.equal([{ path: 'max_tokens', kind: 'setting' }]);
    });

    it('put a refused format in words', () => {
      const call = callOf(format, { isTranslated: true, ...without('output_format') });
      const { request, losses } = fittedCall(call, {});
      expect(request).to.not.have.property('output_config');
      expect(JSON.stringify(request.system)).to.include('one valid JSON object');
      expect(losses).to.deep.equal([{ path: 'output_config.format', kind: 'setting' }]);
    });

    it('take strict from the tools of the caller first, then the format, and last from the tool of a choice', () => {
      const forced = asForcedTool({ name: 'pick', input_schema: schema });
      const message = 'Schemas are too complex: the compiled grammar is too large';
      const next = (request: Partial<MessagesRequest>, ...entries: string[]) =>
        part(message, request, without(...entries))?.without;
      const all = { ...format, tools: [strict, forced] };
      expect(next(all)).to.equal('strict');
      expect(next(all, 'strict')).to.equal('output_format');
      expect(next(all, 'strict', 'output_format')).to.equal('strict=all');
      expect(next(all, 'strict=all', 'output_format')).to.equal(undefined);
      expect(next({ tools: [forced] })).to.equal('strict=all');
    });

    it('take strict from all tools where the model does not know it', () => {
      const message = 'tools.0.custom.strict: Extra inputs are not permitted';
      expect(part(message, { tools: [strict] })).to.deep.equal({
        without: 'strict',
        isOfModel: true,
        isAsked: true,
      });
      const forced = asForcedTool({ name: 'pick', input_schema: schema });
      const ofMessages = { isTranslated: false };
      expect(part(message, { tools: [forced, strict] }, ofMessages)).to.deep.equal({
        without: 'strict=all',
        isOfModel: true,
        isAsked: false,
      });
      expect(part(message, { tools: [strict] }, ofMessages)).to.equal(undefined);
    });

    it('leave the tool of a choice with its schema alone', () => {
      const forced = asForcedTool({ name: 'pick', input_schema: schema });
      for (const isTranslated of [true, false]) {
        const sent = (...entries: string[]) =>
          fittedCall(callOf({ tools: [forced] }, { isTranslated, ...without(...entries) }), {}).request
            .tools?.[0];
        expect(sent()).to.include({ strict: true });
        expect(sent('strict')).to.include({ strict: true });
        expect(sent('strict=all'))
          .to.include({ name: 'pick', input_schema: schema })
          .and.not.have.property('strict');
      }
    });
  });

  describe('about system text', () => {
    const persona = { type: 'text', text: 'Be kind.' } as const;
    const said = (message: string, request: Partial<MessagesRequest>, changes: Partial<SlotCall> = {}) =>
      refusedIn(messagesParts({}), refusal(message), callOf(request, changes));

    for (const message of [
      'system: Extra inputs are not permitted',
      'System messages are not supported by this model',
      'system prompt is not supported',
      "Unknown parameter: 'system'",
      'This model does not support system prompts.',
    ])
      it(`"${message}" are about that of the gateway, or of another format`, () => {
        const found = { without: 'system', isOfModel: true, isAsked: false };
        expect(said(message, { system: 'S' }, { isTranslated: true })).to.deep.equal(found);
        const marked = { ...persona, cache_control: marker('1h') };
        expect(said(message, { system: [marked] }, { addedSystem: [persona] })).to.deep.equal(found);
        expect(
          said(message, { system: [persona, { ...persona, text: 'Own.' }] }, { addedSystem: [persona] }),
        ).to.equal(undefined);
        expect(said(message, { system: 'S' })).to.equal(undefined);
        expect(said(message, {}, { isTranslated: true })).to.equal(undefined);
        const output_config = { format: { type: 'json_schema' } } as const; // asked for in a system text
        expect(said(message, { output_config }, { isTranslated: true })).to.deep.equal(found);
      });

    const moved = (
      request: Partial<MessagesRequest>,
      added: TextBlock = { type: 'text', text: 'Be brief.' },
    ) => {
      const own = { ...without('system'), addedSystem: [added] };
      return fittedCall(callOf({ system: [added], ...request }, own), {}).request;
    };

    it('of a Messages caller stays where it is, for the service to refuse', () => {
      for (const system of ['S', [persona, { type: 'text', text: 'Own.' }], [null]]) {
        const request = { system } as unknown as Partial<MessagesRequest>;
        const call = callOf(request, { ...without('system'), addedSystem: [persona] });
        expect(fittedCall(call, {}).request).to.equal(call.request);
      }
    });

    it('are about nothing of the gateway where a Messages caller sends no blocks', () => {
      const request = { system: [null, 7] } as unknown as Partial<MessagesRequest>;
      expect(said('system.0: Input should be a valid dictionary', request)).to.equal(undefined);
    });

    it('stands in the first text of the user where the service takes none', () => {
      expect(moved({})).to.deep.equal({
        model: 'm',
        messages: [{ role: 'user', content: 'Be brief.\n\nHi.' }],
      });
      const answer = { role: 'assistant', content: 'Yes.' } as const;
      expect(moved({ messages: [answer, user] }).messages).to.deep.equal([
        answer,
        { role: 'user', content: 'Be brief.\n\nHi.' },
      ]);
      expect(moved({ messages: [] }).messages).to.deep.equal([{ role: 'user', content: 'Be brief.' }]);
    });

    it('keeps its markers, and stands behind the results of tools', () => {
      const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' } as const;
      const image = { type: 'image', source: { type: 'url', url: 'u' } } as const;
      const [block] = system(marker('1h'));
      expect(
        moved({ messages: [{ role: 'user', content: [result, image] }] }, block).messages[0]?.content,
      ).to.deep.equal([result, block, image]);
    });
  });

  it('are about nothing that the caller has written, or that is left out already', () => {
    const theirs = callOf({ tools: [own], system: system(given) });
    for (const message of ['tools.0: web_search', 'ttl: no', 'cache_control: no'])
      expect(find(message, theirs)).to.equal(undefined);
    expect(find('web_search', { ...full, ...without('web_search') })).to.equal(undefined);
  });
});

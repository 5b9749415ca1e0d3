import * as fc from 'fast-check';
import type { MessagesStreamEvent, ModelEvent } from '@gw2api/gateway/plugin';
import { made, messageStart } from './events.js';

/** Random batch sizes. */
export const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 40 });

/** A text cut into pieces at random, possibly within a surrogate pair. */
function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, at) => text.slice(from, places[at] ?? text.length));
}

const cuts = fc.array(fc.nat(200), { maxLength: 5 });
const words = fc.string({ unit: 'grapheme', maxLength: 20 });
const citation = fc.record({
  type: fc.constant('web_search_result_location'),
  url: fc.webUrl(),
  title: fc.option(fc.string()),
});

type Body = readonly [start: unknown, ...deltas: readonly unknown[]];

const textBlock = fc.tuple(words, cuts, fc.array(citation, { maxLength: 2 })).map(textBody);

function textBody([text, cuts, citations]: [string, readonly number[], readonly object[]]): Body {
  const start = { type: 'text', text: '' };
  const cited = citations.map((citation) => ({ type: 'citations_delta', citation }));
  return [start, ...cited, ...pieces(text, cuts).map((text) => ({ type: 'text_delta', text }))];
}

const thinkingBlock = fc.tuple(words, cuts, fc.base64String({ minLength: 4 })).map(thinkingBody);

function thinkingBody([text, cuts, signature]: [string, readonly number[], string]): Body {
  const start = { type: 'thinking', thinking: '', signature: '' };
  const thoughts = pieces(text, cuts).map((thinking) => ({ type: 'thinking_delta', thinking }));
  return [start, ...thoughts, { type: 'signature_delta', signature }];
}

const redactedBlock = fc.base64String().map((data): Body => [{ type: 'redacted_thinking', data }]);

const ids = fc.uuid().map((id) => id.slice(0, 8));

function toolBlock(type: 'tool_use' | 'server_tool_use', ...names: string[]): fc.Arbitrary<Body> {
  const input = fc.dictionary(words, words, { maxKeys: 3 });
  return fc
    .tuple(ids, fc.constantFrom(...names), input, cuts)
    .map(([id, name, input, cuts]) => toolBody({ type, id, name, input: {} }, JSON.stringify(input), cuts));
}

function toolBody(start: object, json: string, cuts: readonly number[]): Body {
  return [
    start,
    ...['', ...pieces(json, cuts)].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  ];
}

const searchBlocks = fc.tuple(ids, words, fc.boolean()).map(([id, query, isFound]): readonly Body[] => [
  [
    { type: 'server_tool_use', id: `srvtoolu_${id}`, name: 'web_search', input: {} },
    { type: 'input_json_delta', partial_json: JSON.stringify({ query }) },
  ],
  [
    {
      type: 'web_search_tool_result',
      tool_use_id: `srvtoolu_${id}`,
      content: isFound
        ? [{ type: 'web_search_result', url: 'https://a.example/', title: 'A' }]
        : { type: 'web_search_tool_result_error', error_code: 'unavailable' },
    },
  ],
]);

const unknownBlock = fc.constant<Body>([
  { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
  { type: 'fallback_delta', more: 1 },
]);

/** The events of an answer with any sequence of blocks, perhaps cut within the last one. */
export const answers: fc.Arbitrary<readonly ModelEvent[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        textBlock.map((body) => [body]),
        thinkingBlock.map((body) => [body]),
        redactedBlock.map((body) => [body]),
        toolBlock('tool_use', 'weather', 'patch').map((body) => [body]),
        toolBlock('server_tool_use', 'web_search', 'code_execution').map((body) => [body]),
        unknownBlock.map((body) => [body]),
        searchBlocks,
      ),
      { maxLength: 8 },
    ),
    fc.boolean(),
  )
  .map(([groups, isCut]) => answer(groups.flat(), isCut));

function answer(blocks: readonly Body[], isCut: boolean): readonly ModelEvent[] {
  const isCall = blocks.some(([start]) => (start as { type: string }).type === 'tool_use');
  const stop = isCut ? 'max_tokens' : isCall ? 'tool_use' : 'end_turn';
  const events: unknown[] = [
    messageStart(),
    ...blocks.flatMap(([start, ...deltas], index) => [
      { type: 'content_block_start', index, content_block: start },
      { type: 'ping' },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      ...(isCut && index === blocks.length - 1 ? [] : [{ type: 'content_block_stop', index }]),
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 7, output_tokens_details: { thinking_tokens: 2 } },
    },
    { type: 'message_stop' },
  ];
  // Unknown types among them are what is tested.
  return made(...(events as MessagesStreamEvent[]));
}

import type {
  ContentBlock,
  Delta,
  MessagesResponse,
  MessagesStreamEvent,
  Usage,
} from '@gw2api/gateway/plugin';
import type { PromptUsage } from './cache.js';
import { thinkingTokens, tokensOfParts, type Part, type Plan } from './part.js';
import { between, type Random } from '../random.js';
import { seal } from './seal.js';
import { tokensOf } from './tokens.js';

interface Envelope {
  readonly id: string;
  readonly model: string;
  readonly prompt: PromptUsage;
  readonly random: Random;
}

/** Events of an answer, in the order and grammar of the real service; lazy, as answers may be large. */
export function* messageEvents(plan: Plan, envelope: Envelope): Generator<MessagesStreamEvent> {
  yield { type: 'message_start', message: opening(envelope) };
  yield { type: 'ping' };
  for (const [index, part] of plan.parts.entries()) {
    yield { type: 'content_block_start', index, content_block: startOf(part) };
    for (const delta of deltasOf(part, envelope.random)) yield { type: 'content_block_delta', index, delta };
    if (!(part.kind === 'call' && part.isCut)) yield { type: 'content_block_stop', index };
  }
  yield {
    type: 'message_delta',
    delta: {
      stop_reason: plan.stopReason,
      stop_sequence: plan.stopSequence ?? null,
      stop_details: plan.stopDetails ?? null,
    },
    usage: closingUsage(plan, envelope.prompt),
  };
  yield { type: 'message_stop' };
}

function opening({ id, model, prompt }: Envelope): MessagesResponse {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...prompt, output_tokens: 1, service_tier: 'standard', inference_geo: 'not_available' },
  };
}

/** Final usage of the answer; the results of searches count as input too. */
function closingUsage({ parts }: Plan, prompt: PromptUsage): Usage {
  const found = parts.filter((part) => part.kind === 'whole' && part.block.type === 'web_search_tool_result');
  const searches = parts.filter((part) => part.kind === 'call' && part.type === 'server_tool_use').length;
  const thinking = thinkingTokens(parts);
  const { cache_creation: _, input_tokens, ...cache } = prompt;
  return {
    input_tokens: input_tokens + found.reduce((sum, part) => sum + tokensOf(JSON.stringify(part)), 0),
    ...cache,
    output_tokens: Math.max(1, tokensOfParts(parts)),
    ...(thinking > 0 ? { output_tokens_details: { thinking_tokens: thinking } } : {}),
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches, web_fetch_requests: 0 } } : {}),
  };
}

function startOf(part: Part): ContentBlock {
  if (part.kind === 'whole') return part.block;
  if (part.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (part.kind === 'text') return { ...(part.citation ? { citations: [] } : {}), type: 'text', text: '' };
  const { type, id, name } = part;
  return { type, id, name, input: {}, ...(type === 'tool_use' ? { caller: { type: 'direct' } } : {}) };
}

function* deltasOf(part: Part, random: Random): Generator<Delta> {
  if (part.kind === 'whole') return;
  if (part.kind === 'call') {
    yield { type: 'input_json_delta', partial_json: '' };
    for (const json of slices(part.json, () => between(random, 2, 16)))
      yield { type: 'input_json_delta', partial_json: json };
  } else if (part.kind === 'thinking') {
    if (!part.isHidden)
      for (const thinking of words(part.text, random)) yield { type: 'thinking_delta', thinking };
    yield { type: 'signature_delta', signature: seal('thinking', part.isHidden ? '' : part.text) };
  } else {
    if (part.citation) yield { type: 'citations_delta', citation: part.citation };
    const { deltaLength } = part;
    const pieces = deltaLength ? units(part.text, deltaLength) : words(part.text, random);
    for (const text of pieces) yield { type: 'text_delta', text };
  }
}

/** One to four words at a time, each with the space before it. */
function* words(text: string, random: Random): Generator<string> {
  const all = text.match(/\s*\S+|\s+$/g) ?? [];
  for (let at = 0; at < all.length;) {
    const count = between(random, 1, 4);
    yield all.slice(at, at + count).join('');
    at += count;
  }
}

/** Slices of so many characters each; no character is cut in two. */
function* slices(text: string, length: () => number): Generator<string> {
  const characters = Array.from(text);
  for (let at = 0; at < characters.length;) {
    const count = length();
    yield characters.slice(at, at + count).join('');
    at += count;
  }
}

/** Slices of so many UTF-16 units, surrogate pairs cut or not. */
function* units(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

import type { MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import type { Citation } from '@gw2api/gateway/plugin/upstream';
import { lastUserText, withoutMarkers } from '../scenarios/marker.js';
import { textPart, type Part, type Plan } from './part.js';
import { idFrom } from '../random.js';
import { sealed } from './seal.js';

/** True if the request has the web_search server tool and its last user message asks for a search. */
export function wantsSearch(request: MessagesRequest): boolean {
  return (request.tools ?? []).some(isWebSearch) && /\bsearch/i.test(lastUserText(request));
}

/** A search with its result blocks, and an answer that cites them. */
export function searchParts(request: MessagesRequest, seed: string): readonly Part[] {
  const call = searchCall(request, seed, 0);
  return [textPart("I'll search for that."), call, searchResult(call.id), ...citedParts(request)];
}

/** A turn that ends in the middle of a search, as the service does when one takes long. */
export function pausedPlan(request: MessagesRequest, seed: string): Plan {
  return {
    parts: [textPart("I'll search for that."), searchCall(request, seed, 0)],
    stopReason: 'pause_turn',
  };
}

/** Continuation of a paused answer sent back: first the open search's result. */
export function resumedPlan(request: MessagesRequest, seed: string, pauses: number): Plan | undefined {
  const { open, done } = searchesAtEnd(request);
  if (!open) return undefined;
  const result = searchResult(open);
  if (done + 1 < pauses) {
    const next = searchCall(request, seed, done + 1);
    return { parts: [result, textPart('One more search.'), next], stopReason: 'pause_turn' };
  }
  return { parts: [result, ...citedParts(request)], stopReason: 'end_turn' };
}

/** Searches in the assistant messages at the end: the call without a result, and the number of those with one. */
function searchesAtEnd({ messages }: MessagesRequest): { open: string | undefined; done: number } {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'assistant');
  const blocks = messages
    .slice(lastOther + 1)
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const answered = new Set(blocks.map((block) => block['tool_use_id']));
  const calls = blocks.filter((block) => block.type === 'server_tool_use').map((block) => block.id);
  const open = calls.find((id) => !answered.has(id));
  return { open, done: calls.filter((id) => answered.has(id)).length };
}

function searchCall(request: MessagesRequest, seed: string, nth: number): Extract<Part, { kind: 'call' }> {
  const query = withoutMarkers(lastUserText(request)).slice(0, 60).trim() || 'simulator';
  return {
    kind: 'call',
    type: 'server_tool_use',
    id: idFrom('srvtoolu', `${seed}${nth}`),
    name: 'web_search',
    json: JSON.stringify({ query }),
  };
}

const pages = [1, 2].map((number) => ({
  url: `https://example.com/simulated/${number}`,
  title: `Simulated page ${number}`,
}));

function searchResult(callId: string): Part {
  const content = pages.map(({ url, title }) => ({
    type: 'web_search_result',
    title,
    url,
    encrypted_content: sealed('search', url),
    page_age: null,
  }));
  return { kind: 'whole', block: { type: 'web_search_tool_result', tool_use_id: callId, content } };
}

function citedParts(request: MessagesRequest): readonly Part[] {
  const topic = withoutMarkers(lastUserText(request)).slice(0, 40);
  return [
    textPart('The simulator looked nothing up. '),
    ...pages.map(({ url, title }): Part => {
      const text = `A made-up passage about "${topic}".`;
      return { kind: 'text', text, citation: citationOf(url, title, text) };
    }),
    textPart(' That is all it can say.'),
  ];
}

function citationOf(url: string, title: string, text: string): Citation {
  return {
    type: 'web_search_result_location',
    cited_text: text,
    url,
    title,
    encrypted_index: sealed('search', `${url}#0`),
  };
}

function isWebSearch({ type }: Tool): boolean {
  return type?.startsWith('web_search_') ?? false;
}

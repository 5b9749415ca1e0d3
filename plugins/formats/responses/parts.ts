import type { BlockOf, TextBlock } from '@gw2api/gateway/plugin';
import type { ResponseAnswer } from './answer.js';
import type { OpenItem } from './item.js';
import type { MessageItem } from './message-item.js';
import type { PartTable } from '../shared/answer/answer.js';
import type { Block, Part } from '../shared/answer/block.js';
import { sealReasoning } from '../shared/reasoning.js';
import { type CallerTool, callerTool, customInput } from '../shared/tools/tools.js';
import { isRecord } from '../shared/body.js';

/** Blocks of an answer that a response shows; server tools other than web search stay invisible. */
export const responsesParts: PartTable<ResponseAnswer> = {
  text,
  thinking,
  redacted_thinking: ({ start }, answer) => {
    const item = answer.open('rs', reasoningItem);
    return { close: () => item.done({ ...reasoningItem, encrypted_content: sealReasoning(start) }) };
  },
  tool_use: (block, answer) => {
    const tool = callerTool(answer.request.tools, block.start.name);
    return tool.kind === 'custom' ? customCall(block, tool, answer) : functionCall(block, tool, answer);
  },
  server_tool_use: (block, answer) =>
    block.start.name === 'web_search' ? webSearch(block, answer) : undefined,
  web_search_tool_result: ({ start }, answer) => ({
    close: () => answer.searches.get(start.tool_use_id)?.(start),
  }),
};

/** Part of a text, whose message begins with its first character: an empty text block is ignored. */
function text(block: Block<TextBlock>, answer: ResponseAnswer): Part {
  let message: MessageItem | undefined;
  let start = 0;
  return {
    write(delta, json, logprobs) {
      const current = answer.message();
      if (current !== message) start = current.text.length;
      message = current;
      current.write(delta, json, logprobs);
    },
    close: () => message?.cite(block.citations, start),
  };
}

const reasoningItem = { type: 'reasoning', summary: [] };

function thinking(block: Block<BlockOf<'thinking'>>, answer: ResponseAnswer): Part {
  const item = answer.open('rs', reasoningItem);
  const at = { summary_index: 0 };
  let isBegun = false;
  return {
    write(delta) {
      if (!isBegun) item.emit('response.reasoning_summary_part.added', { ...at, part: summaryText('') });
      isBegun = true;
      item.emit('response.reasoning_summary_text.delta', { ...at, delta });
    },
    close() {
      if (isBegun) {
        item.emit('response.reasoning_summary_text.done', { ...at, text: block.text });
        item.emit('response.reasoning_summary_part.done', { ...at, part: summaryText(block.text) });
      }
      item.done({ ...reasoningItem, summary: isBegun ? [summaryText(block.text)] : [], ...sealed(block) });
    },
  };
}

function summaryText(text: string): object {
  return { type: 'summary_text', text };
}

/** Seal of signed reasoning, the only kind that can be sent back. */
function sealed({ start, text, signature }: Block<BlockOf<'thinking'>>): object {
  if (signature === '') return {};
  return { encrypted_content: sealReasoning({ ...start, thinking: text, signature }) };
}

function functionCall(block: Block<BlockOf<'tool_use'>>, tool: CallerTool, answer: ResponseAnswer): Part {
  const { name, namespace } = tool;
  const call = {
    type: 'function_call',
    call_id: answer.callIds.unique(block.start.id),
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
  const item = answer.open('fc', { ...call, status: 'in_progress', arguments: '' });
  return {
    write: (delta) => item.emit('response.function_call_arguments.delta', { delta }),
    close() {
      item.emit('response.function_call_arguments.done', { name, arguments: block.text });
      item.done({ ...call, status: statusOf(block), arguments: block.text });
    },
  };
}

/** Input of a custom tool: a string within JSON, so it is emitted in one piece when that is complete. */
function customCall(
  block: Block<BlockOf<'tool_use'>>,
  { name, namespace }: CallerTool,
  answer: ResponseAnswer,
): Part {
  const own = namespace === undefined ? {} : { namespace };
  const call_id = answer.callIds.unique(block.start.id);
  const call = { type: 'custom_tool_call', call_id, name, ...own };
  const item = answer.open('ctc', { ...call, status: 'in_progress', input: '' });
  return {
    close() {
      const input = customInput(block.text);
      if (input !== '') item.emit('response.custom_tool_call_input.delta', { delta: input });
      item.emit('response.custom_tool_call_input.done', { input });
      item.done({ ...call, status: statusOf(block), input });
    },
  };
}

function statusOf({ isCut }: Block): string {
  return isCut ? 'incomplete' : 'completed';
}

/** Web search item, which is done when its result arrives in a block of its own. */
function webSearch(block: Block<BlockOf<'server_tool_use'>>, answer: ResponseAnswer): Part {
  const call = { type: 'web_search_call' };
  const item: OpenItem = answer.open('ws', { ...call, status: 'in_progress', action: searchAction('') });
  item.emit('response.web_search_call.in_progress', {});
  let isSearching = false;
  const search = () => {
    if (!isSearching) item.emit('response.web_search_call.searching', {});
    isSearching = true;
  };
  answer.searches.get(block.start.id)?.(undefined); // a second start: the search before it has no result
  answer.searches.set(block.start.id, (result) => {
    answer.searches.delete(block.start.id);
    search();
    const sources = searchSources(result);
    if (sources) item.emit('response.web_search_call.completed', {});
    const shown = answer.request.include.has('web_search_call.action.sources') ? sources : undefined;
    item.done({ ...call, status: sources ? 'completed' : 'failed', action: searchAction(block.text, shown) });
  });
  return { close: search };
}

/** `action` of a web_search_call; `json` is the input of the upstream's tool call, possibly cut. */
function searchAction(json: string, sources?: readonly object[]): object {
  const query = queryOf(json);
  return { type: 'search', query, queries: query === '' ? [] : [query], ...(sources ? { sources } : {}) };
}

/** The pages that a search has found; undefined if it failed or has no result. */
function searchSources(result: BlockOf<'web_search_tool_result'> | undefined): readonly object[] | undefined {
  if (!Array.isArray(result?.content)) return undefined;
  const found: readonly unknown[] = result.content;
  return found.flatMap((page) =>
    typeof page === 'object' && page !== null && 'url' in page ? [{ type: 'url', url: page.url }] : [],
  );
}

function queryOf(json: string): string {
  try {
    const input: unknown = JSON.parse(json);
    if (isRecord(input) && typeof input['query'] === 'string') return input['query'];
  } catch {
    return ''; // incomplete, or cut by `max_tokens`
  }
  return '';
}

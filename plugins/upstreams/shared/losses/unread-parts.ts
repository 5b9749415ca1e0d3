import type { ContentBlock, MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';
import type { CallTerms } from '../call-terms.js';
import type { Dropped } from './dropped.js';
import { fieldsOf, type Fields } from '../fields.js';

/** Parts of blocks that a receiver takes beside those that every one has. */
export interface ReceiverParts {
  /** Cache markers that are sent. */
  readonly sentMarkers?: ReadonlySet<CacheControl>;
  /** Takes `phase` on the texts of an answer. */
  readonly phase?: boolean;
}

/**
 * Reports the members of messages, blocks and settings that are not translated: unknown ones, and those without a
 * counterpart. Blocks that are left out as a whole are reported elsewhere.
 */
export function reportUnreadParts(
  request: MessagesRequest,
  dropped: Dropped,
  parts: ReceiverParts & Pick<CallTerms, 'addedMarkers'>,
): void {
  const report: Report = { ...parts, dropped };
  for (const [name, known] of settings) reportMembers(fieldsOf(request[name]), known, name, report);
  reportMembers(fieldsOf(request.output_config?.format), formatFields, 'output_config.format', report);
  if (typeof request.system !== 'string') reportBlocks(request.system ?? [], 'system', report);
  request.messages.forEach((message, at) => {
    reportMembers(fieldsOf(message), messageFields, `messages[${at}]`, report);
    if (typeof message.content !== 'string') reportBlocks(message.content, `messages[${at}].content`, report);
  });
  request.tools?.forEach((tool, at) => reportMarker(tool, `tools[${at}].`, report));
  reportMarker(request, '', report);
}

interface Report extends ReceiverParts, Pick<CallTerms, 'addedMarkers'> {
  readonly dropped: Dropped;
}

type Names = ReadonlySet<string>;

const settings: readonly (readonly [string, Names])[] = [
  ['tool_choice', names('type name disable_parallel_tool_use')],
  ['thinking', names('type budget_tokens display')],
  ['metadata', names('user_id')],
];

const formatFields = names('type schema name strict description');
const messageFields = names('role content');

/**
 * Fields that are translated, by the type of the block; `caller` of answers has no meaning in a request, and citations
 * of documents are reported on writing.
 */
const blockFields: Readonly<Record<string, Names>> = {
  text: names('type text cache_control phase citations'),
  image: names('type source detail cache_control'),
  document: names('type source title context citations cache_control'),
  search_result: names('type source title content citations cache_control'),
  tool_use: names('type id name input caller cache_control'),
  tool_result: names('type tool_use_id content is_error cache_control'),
  thinking: names('type thinking signature'),
  redacted_thinking: names('type data'),
};

const sourceFields = names('type media_type data url content file_id');

function reportBlocks(blocks: readonly ContentBlock[], path: string, report: Report): void {
  blocks.forEach((block, at) => {
    const known = Object.hasOwn(blockFields, block.type) ? blockFields[block.type] : undefined;
    if (known) reportBlock(block, known, `${path}[${at}]`, report);
  });
}

function reportBlock(block: ContentBlock, known: Names, path: string, report: Report): void {
  reportMembers(block, known, path, report);
  reportMarker(block, `${path}.`, report);
  if ('phase' in block && !report.phase) report.dropped.add(`${path}.phase`, 'mend');
  if (block.type === 'text' && !asksForNothing(block.citations))
    report.dropped.add(`${path}.citations`, 'mend');
  const source = fieldsOf(block['source']);
  reportMembers(source, sourceFields, `${path}.source`, report);
  reportInner(source['content'], `${path}.source.content`, report);
  reportInner(block['content'], `${path}.content`, report);
}

/** Blocks in a document, or in a result; their shape has been checked. */
function reportInner(content: unknown, path: string, report: Report): void {
  if (Array.isArray(content)) reportBlocks(content as readonly ContentBlock[], path, report);
}

/** The caller's marker; the gateway's own are not reported. */
function reportMarker(
  { cache_control: marker }: Pick<Tool | ContentBlock | MessagesRequest, 'cache_control'>,
  path: string,
  { sentMarkers, addedMarkers, dropped }: Report,
): void {
  if (!marker || addedMarkers?.get(marker) === 'marker' || sentMarkers?.has(marker)) return;
  dropped.add(`${path}cache_control`, 'mend');
}

function reportMembers(fields: Fields, known: Names, path: string, { dropped }: Report): void {
  if (dropped.isFull()) return;
  for (const name in fields) {
    if (dropped.isFull()) return;
    if (!known.has(name) && !asksForNothing(fields[name])) dropped.add(`${path}.${name}`);
  }
}

function asksForNothing(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function names(list: string): Names {
  return new Set(list.split(' '));
}

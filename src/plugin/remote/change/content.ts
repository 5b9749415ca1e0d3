import { Type } from 'typebox';
import { compileCheck, formatPath } from '../../../kit/schema/check.js';
import { lazy } from '../../../kit/once.js';
import type { ContentBlock, MessagesResponse } from '../../contract/messages.js';
import { blockEvents } from '../../events/block-events.js';
import { ModelEvent } from '../../events/events.js';
import { isToolUse, stopReasonWith } from '../../events/mend/mended-message.js';
import { merged } from './merge.js';

/**
 * Events of an answer with other content; unchanged blocks in their place keep their events. `message`: the answer of
 * `events`. Throws a TypeError for a block that is not valid.
 */
export function withContent(
  events: readonly ModelEvent[],
  message: MessagesResponse,
  content: readonly object[],
): readonly ModelEvent[] {
  const next = merged(message.content, content) as readonly ContentBlock[]; // checked below
  if (next === message.content) return events;
  const known = new Set<unknown>(message.content);
  for (const [at, block] of next.entries()) if (!known.has(block)) checkBlock(block, at);
  const parts = partsOf(events);
  const isPlaced = parts.blocks.length === message.content.length; // none stands in message_start
  const blocks = next.flatMap((block, at) =>
    isPlaced && block === message.content[at] ? (parts.blocks[at] ?? []) : blockEvents(block, at),
  );
  return [...parts.start.map(withoutContent), ...blocks, ...parts.end.map((event) => ended(event, next))];
}

const Named = { id: Type.String(), name: Type.String(), input: Type.Object({}) };
const checkAny = lazy(() => compileCheck(Type.Object({ type: Type.String({ minLength: 1 }) })));
const checks: Readonly<Record<string, ReturnType<typeof lazy<ReturnType<typeof compileCheck>>>>> = {
  text: lazy(() => compileCheck(Type.Object({ text: Type.String() }))),
  thinking: lazy(() => compileCheck(Type.Object({ thinking: Type.String(), signature: Type.String() }))),
  tool_use: lazy(() => compileCheck(Type.Object(Named))),
  server_tool_use: lazy(() => compileCheck(Type.Object(Named))),
};

function checkBlock(block: ContentBlock, at: number): void {
  const own = Object.hasOwn(checks, block.type) ? checks[block.type] : undefined;
  const [error] = [...checkAny()(block), ...(own?.()(block) ?? [])];
  if (error) throw new TypeError(`${formatPath(['content', at, ...error.path])}: ${error.message}`);
}

interface Parts {
  readonly start: ModelEvent[];
  readonly blocks: ModelEvent[][];
  readonly end: ModelEvent[];
}

/** Parts of an answer: what stands before its blocks, the events of each block, and what stands behind them. */
function partsOf(events: readonly ModelEvent[]): Parts {
  const parts: Parts = { start: [], blocks: [], end: [] };
  const byIndex = new Map<number, ModelEvent[]>();
  for (const event of events) {
    const index = indexOf(event);
    if (index === undefined) (byIndex.size === 0 ? parts.start : parts.end).push(event);
    else {
      const block = byIndex.get(index) ?? [];
      if (block.length === 0) parts.blocks.push(block);
      byIndex.set(index, block);
      block.push(event);
    }
  }
  if (byIndex.size === 0) parts.end.push(...parts.start.splice(1));
  return parts;
}

function indexOf(event: ModelEvent): number | undefined {
  if (event.delta) return event.delta.index;
  const { json } = event;
  return 'index' in json && typeof json.index === 'number' ? json.index : undefined;
}

function withoutContent(event: ModelEvent): ModelEvent {
  const { json } = event;
  if (json.type !== 'message_start' || json.message.content.length === 0) return event;
  return ModelEvent.of({ ...json, message: { ...json.message, content: [] } }, event.choice);
}

/** The end of an answer, whose stop reason fits its tool calls. */
function ended(event: ModelEvent, content: readonly ContentBlock[]): ModelEvent {
  const { json } = event;
  if (json.type !== 'message_delta') return event;
  const { stop_reason: before } = json.delta;
  const hasCalls = content.some(isToolUse);
  const stop_reason = before === 'tool_use' && !hasCalls ? 'end_turn' : stopReasonWith(before, hasCalls);
  if (stop_reason === before || stop_reason === undefined) return event;
  return ModelEvent.of({ ...json, delta: { ...json.delta, stop_reason } }, event.choice);
}

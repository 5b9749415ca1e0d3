import type { ContentBlock, StopReason } from '@gw2api/gateway/plugin';
import type { Citation, StopDetails } from '@gw2api/gateway/plugin/upstream';
import { cutToBytes, tokensOfText } from './tokens.js';

/** A piece of an answer, before it is cut to size and split into deltas. */
export type Part =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Length of each delta in UTF-16 units; by default words of varying number. */
      readonly deltaLength?: number;
      readonly citation?: Citation;
      /** Sent in full, regardless of `max_tokens`. */
      readonly isUnlimited?: true;
    }
  | { readonly kind: 'thinking'; readonly text: string; readonly isHidden?: boolean }
  | {
      readonly kind: 'call';
      readonly type: 'tool_use' | 'server_tool_use';
      readonly id: string;
      readonly name: string;
      /** Arguments as JSON; empty: none were sent. */
      readonly json: string;
      /** The answer ended inside it: its block stays open. */
      readonly isCut?: true;
    }
  /** A block that is complete in its start event. */
  | { readonly kind: 'whole'; readonly block: ContentBlock };

/** Plan of an answer: its parts and its stop reason. */
export interface Plan {
  readonly parts: readonly Part[];
  readonly stopReason: StopReason;
  readonly stopSequence?: string;
  readonly stopDetails?: StopDetails;
}

export function textPart(text: string): Part {
  return { kind: 'text', text };
}

/** Output tokens of the parts, thinking and tool arguments included. */
export function tokensOfParts(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + tokensOfText(textOf(part)), 0);
}

export function thinkingTokens(parts: readonly Part[]): number {
  return tokensOfParts(parts.filter(({ kind }) => kind === 'thinking'));
}

/** Ends the plan before the first stop sequence in its text. */
export function stopAt(plan: Plan, sequences: readonly string[]): Plan {
  for (const [at, part] of plan.parts.entries()) {
    const hit = part.kind === 'text' ? firstHit(part.text, sequences) : undefined;
    if (part.kind !== 'text' || !hit) continue;
    const before = hit.index > 0 ? [{ ...part, text: part.text.slice(0, hit.index) }] : [];
    return {
      parts: [...plan.parts.slice(0, at), ...before],
      stopReason: 'stop_sequence',
      stopSequence: hit.sequence,
    };
  }
  return plan;
}

/** Ends the plan when `maxTokens` are used up; a tool call that does not fit is cut within its JSON. */
export function limit(plan: Plan, maxTokens: number): Plan {
  let left = maxTokens;
  for (const [at, part] of plan.parts.entries()) {
    if (part.kind === 'text' && part.isUnlimited) continue;
    const needed = tokensOfText(textOf(part));
    if (needed > left) {
      const fits = left > 0 ? [cut(part, left * 4)] : [];
      return { parts: [...plan.parts.slice(0, at), ...fits], stopReason: 'max_tokens' };
    }
    left -= needed;
  }
  return plan;
}

function firstHit(
  text: string,
  sequences: readonly string[],
): { index: number; sequence: string } | undefined {
  return sequences
    .map((sequence) => ({ index: text.indexOf(sequence), sequence }))
    .filter(({ index }) => index >= 0)
    .toSorted((a, b) => a.index - b.index)[0];
}

function textOf(part: Part): string {
  if (part.kind === 'whole') return '';
  return part.kind === 'call' ? part.json : part.text;
}

function cut(part: Part, maxBytes: number): Part {
  if (part.kind === 'whole') return part;
  if (part.kind === 'call') return { ...part, json: cutToBytes(part.json, maxBytes), isCut: true };
  return { ...part, text: cutToBytes(part.text, maxBytes) };
}

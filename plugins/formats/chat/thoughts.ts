import type { BlockOf } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';
import type { ChatMessage, ChatToolCall } from './body.js';
import { isRecord } from '../shared/body.js';
import { plainThinking, type SignedThinking } from '../shared/reasoning.js';

/** Thinking of an assistant message, and its place in that. */
export interface Thought {
  readonly block: SignedThinking;
  readonly place: string;
}

/**
 * Thinking of a message: the signed part of `reasoning_details`, else its text in the form of other servers, which is
 * sent back unchanged if possible.
 */
export function thoughtsOf(message: ChatMessage): readonly Thought[] {
  const signed = (message.reasoning_details ?? []).flatMap((detail, at): readonly Thought[] => {
    const block = signedThinking(detail);
    return block ? [{ block, place: `.reasoning_details[${at}]` }] : [];
  });
  return signed.length > 0 ? signed : plainThoughts(message);
}

function plainThoughts({
  reasoning_content: content,
  reasoning,
  reasoning_details: details,
}: ChatMessage): readonly Thought[] {
  if (details && details.length > 0)
    return [{ block: plainThinking(details.map(textOf).join(''), details), place: '.reasoning_details' }];
  if (isText(content)) return [{ block: plainThinking(content), place: '.reasoning_content' }];
  return isText(reasoning) ? [{ block: plainThinking(reasoning), place: '.reasoning' }] : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textOf(detail: object): string {
  const { text, summary } = detail as { readonly text?: unknown; readonly summary?: unknown }; // of any shape
  const known = text ?? summary;
  return typeof known === 'string' ? known : '';
}

/** Signed thinking without a `format` or with an `anthropic…` one. */
function signedThinking(detail: object): SignedThinking | undefined {
  if (!isRecord(detail) || !isOurs(detail['format'])) return undefined;
  const { type, text, signature, data } = detail;
  if (type === 'reasoning.encrypted' && typeof data === 'string') return { type: 'redacted_thinking', data };
  if (type !== 'reasoning.text' || typeof signature !== 'string' || signature === '') return undefined;
  return { type: 'thinking', thinking: typeof text === 'string' ? text : '', signature };
}

function isOurs(format: unknown): boolean {
  return (
    format === undefined || format === null || (typeof format === 'string' && format.startsWith('anthropic'))
  );
}

/** Gemini's signature of a call, in a block before that; none for a call without one. */
export function thoughtOfCall({ extra_content: extra }: ChatToolCall): readonly BlockOf<'thinking'>[] {
  const google = isRecord(extra) ? extra['google'] : undefined;
  const signature = isRecord(google) ? google['thought_signature'] : undefined;
  if (!isText(signature)) return [];
  return [{ type: 'thinking', thinking: '', signature: reasoningEnvelope.sealThought(signature) }];
}

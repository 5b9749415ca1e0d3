import { expect } from 'chai';
import type { Body } from './recording-upstream.js';

/**
 * Expects that a body begins with what an upstream has cached of the one before: with cache markers ignored, and a
 * string taken for its one part, the same system text, tools, and messages through the last one of the assistant.
 */
export function expectPrefix(before: Body, after: Body): void {
  const [one, other] = [promptOf(before), promptOf(after)];
  expect(other.system, 'system').to.deep.equal(one.system);
  expect(other.messages.slice(0, one.messages.length), 'messages').to.deep.equal(one.messages);
  expect(plain(after['tools']), 'tools').to.deep.equal(plain(before['tools']));
}

interface Prompt {
  readonly system: unknown;
  /** Messages, or items of Responses, through the last one of the assistant. */
  readonly messages: readonly unknown[];
}

function promptOf({ system, instructions, messages, input }: Body): Prompt {
  const all = (plain(messages ?? input) as readonly Message[]) ?? [];
  const last = all.findLastIndex(isOfAssistant);
  return { system: plain(system ?? instructions), messages: all.slice(0, last + 1) };
}

interface Message {
  readonly role?: string;
  readonly type?: string;
}

function isOfAssistant({ role, type }: Message): boolean {
  return role === 'assistant' || type === 'function_call' || type === 'reasoning';
}

/** Value without cache markers, and with strings of contents as their one part. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== 'cache_control');
  return Object.fromEntries(
    fields.map(([name, field]) => [name, texts.has(name) ? partsOf(field) : plain(field)]),
  );
}

const texts: ReadonlySet<string> = new Set(['content', 'output', 'system']);

function partsOf(field: unknown): unknown {
  return typeof field === 'string' ? [field] : Array.isArray(field) ? field.map(textOf) : field;
}

/** A part that is a text alone as that text. */
function textOf(part: unknown): unknown {
  const { type, text } = Object(part) as Message & { readonly text?: unknown }; // any part of a body
  return typeof text === 'string' && type?.endsWith('text') ? text : plain(part);
}

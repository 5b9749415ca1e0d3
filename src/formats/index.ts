import type { Format, WireFormat } from '../plugin/index.js';
import { chat } from './chat/index.js';
import { completions } from './completions/index.js';
import { messages } from './messages/index.js';
import { responses } from './responses/index.js';

/** All wire formats by name. */
export const formats: Readonly<Record<WireFormat, Format>> = { messages, chat, responses, completions };

/** The formats as a plugin's host has them. */
export function createFormats(): { get(name: WireFormat): Format } {
  return { get: (name) => formats[name] };
}

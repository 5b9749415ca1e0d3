import type { Format } from '#src/plugin/index.js';
import chat from '#plugins/formats/chat/index.js';
import completions from '#plugins/formats/completions/index.js';
import messages from '#plugins/formats/messages/index.js';
import responses from '#plugins/formats/responses/index.js';

/** The built-in formats. */
export type FormatName = 'messages' | 'chat' | 'responses' | 'completions';

export const formats: Readonly<Record<FormatName, Format>> = { messages, chat, responses, completions };

import { valuesAt } from './paths.js';
import {
  all,
  any,
  bytes,
  everywhere,
  field,
  said,
  saidBetween,
  text,
  type Part,
  type Place,
} from './places.js';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';

const pdf = 'JVBERi0xLjQKTUFSS1BERg==';

const image: Part = { of: /image|source|messages\[2\]|input\[2\]|content\[\d\]$/, in: said(png) };

const document: Part = { of: /file|source|messages\[2\]|content\[\d\]/, in: said(pdf) };

/** The call and its result have one id, whatever the server makes of it. */
const pairedIds: Part = {
  of: /tool_call/,
  in: {
    messages: ([call]) =>
      isPair(call?.body, 'messages[*].content[*].id', 'messages[*].content[*].tool_use_id'),
    chat: ([call]) => isPair(call?.body, 'messages[*].tool_calls[*].id', 'messages[*].tool_call_id'),
    responses: ([call]) => new Set(valuesAt(call?.body, 'input[*].call_id')).size === 1,
  },
};

function isPair(body: unknown, call: string, result: string): boolean {
  const [[id], [answered]] = [valuesAt(body, call), valuesAt(body, result)];
  return typeof id === 'string' && id === answered;
}

const systemFirst: Part = {
  of: /^(?:messages\[0\]|instructions|system)/,
  in: {
    messages: text('system', 'SYSMARK'),
    chat: ([call]) => JSON.stringify(valuesAt(call?.body, 'messages[0]')).includes('SYSMARK'),
    responses: text('instructions', 'SYSMARK'),
  },
};

const late: Part = { of: /^(?:messages|input)\[2\]/, in: saidBetween('y', 'MIDMARK', 'z') };

const failed: Part = {
  of: /is_error/,
  in: {
    messages: field('messages[*].content[*].is_error', true),
    chat: text('messages', 'Error'),
    responses: text('input', 'Error'),
  },
};

const named = (...names: readonly string[]): readonly Part[] => [
  {
    of: /^messages\[\d\]\.name/,
    in: { chat: all(...names.map((name) => field('messages[*].name', name))) },
  },
];

const cacheMarker: Part = {
  of: /cache_control/,
  in: { messages: hasMarker, chat: hasMarker },
};

function hasMarker([call]: Parameters<Place>[0]): boolean {
  return call?.raw.includes('"cache_control"') === true;
}

/** Parts of features by their names, those of the conversation. */
export const conversationParts: Readonly<Record<string, readonly Part[]>> = {
  'system text': [systemFirst],
  'system blocks': [systemFirst],
  instructions: [systemFirst],
  'system in the middle': [late],
  'developer item': [late],
  'system message in the middle': [late],
  'image data': [image],
  'image url': [{ of: image.of, in: said('http://127.0.0.1:9/i.png') }],
  'image detail': [
    {
      of: /detail|content\[1\]$/,
      in: {
        chat: field('messages[*].content[*].image_url.detail', 'low'),
        responses: field('input[*].content[*].detail', 'low'),
      },
    },
  ],
  'pdf data': [document],
  'pdf url': [{ of: document.of, in: said('http://127.0.0.1:9/a.pdf') }],
  'audio input': [{ of: /content\[1\]/, in: said('UklGRk1BUktXQVY=') }],
  'tool result with image': [image],
  'tool output with image': [image],
  'tool result with document': [document],
  'is_error with image': [image, failed],
  is_error: [failed],
  'tool arguments byte-equal': [
    {
      of: /arguments/,
      in: everywhere(
        any(bytes('"n":12345678901234567890,"f":1.0'), bytes('\\"n\\":12345678901234567890,\\"f\\":1.0')),
      ),
    },
  ],
  'tool call id': [pairedIds],
  'empty assistant content + tool calls': [pairedIds],
  'tool with no result (Claude Code interrupted)': [
    { of: /messages\[[12]\]/, in: everywhere(all(text('', 'get_weather'), text('', 'go on'))) },
  ],
  'two results, text after': [
    {
      of: /messages\[2\]/,
      in: everywhere(all(text('', 'R1'), text('', 'R2'), text('', 'AFTERMARK'))),
    },
  ],
  'custom call history': [
    { of: /input\[1\]/, in: everywhere(text('', 'RAWINPUT')) },
    { of: /input\[2\]/, in: everywhere(text('', 'OUTMARK')) },
  ],
  'cache_control on a part': [cacheMarker],
  cache_control: [cacheMarker],
  'name of a user message': named('WHOMARK'),
  'message name': named('alice', 'bob'),
  'document citations': [
    { of: /citations/, in: { messages: field('messages[*].content[*].citations.enabled', true) } },
  ],
  'phase of an assistant message': [
    { of: /phase|input\[1\]/, in: { responses: field('input[*].phase', 'commentary') } },
  ],
};

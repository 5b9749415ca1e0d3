import {
  anything,
  flag,
  isObject,
  list,
  nullable,
  oneOf,
  open,
  record,
  tagged,
  text,
  textOr,
  type Shape,
} from './shape.js';

export const type = anything; // checked by `tagged`
export const cacheControl = nullable(record({ type: oneOf('ephemeral') }, { ttl: oneOf('5m', '1h') }));
/** Fields of every block that can be cached. */
export const marked = { cache_control: cacheControl };
const toolId = text({ pattern: /^[a-zA-Z0-9_-]+$/ });

const base64: Shape = (value, path) =>
  typeof value === 'string' && /^[A-Za-z0-9+/\s]+(?:={1,2}\s*)?$/.test(value)
    ? undefined
    : `${path}: Input should be valid base64`;
const url = record({ type, url: text({ pattern: /^https?:\/\// }) });
const file = record({ type, file_id: text({ min: 1 }) });

const imageSource = tagged('type', {
  base64: record({
    type,
    media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
    data: base64,
  }),
  url,
  file,
});

const documentSource = tagged('type', {
  base64: record({ type, media_type: oneOf('application/pdf'), data: base64 }),
  text: record({ type, media_type: oneOf('text/plain'), data: text() }),
  content: record({ type, content: textOr((value, path) => blocks(value, path)) }),
  url,
  file,
});

/** Blocks of server tools, checked only for their common fields. */
const serverBlock = open({ type });
const serverResult = open({ type, tool_use_id: text(), content: anything });

const block = tagged('type', {
  text: record({ type, text: text() }, { ...marked, citations: nullable(list(open({ type }))) }),
  image: record({ type, source: imageSource }, { ...marked, transformations: anything }),
  document: record(
    { type, source: documentSource },
    { ...marked, citations: anything, context: nullable(text()), title: nullable(text()) },
  ),
  search_result: record(
    { type, source: text(), title: text(), content: (value, path) => blocks(value, path) },
    { ...marked, citations: anything },
  ),
  thinking: record({ type, thinking: text(), signature: text() }),
  redacted_thinking: record({ type, data: text() }),
  tool_use: record(
    { type, id: toolId, name: text({ min: 1 }), input: objectOnly },
    { ...marked, caller: anything, toolset_name: anything },
  ),
  tool_result: record(
    { type, tool_use_id: toolId },
    {
      ...marked,
      content: nullable(textOr((value, path) => blocks(value, path))),
      is_error: nullable(flag),
      toolset_name: anything,
    },
  ),
  server_tool_use: record(
    { type, id: toolId, name: text({ min: 1 }), input: objectOnly },
    { ...marked, caller: anything },
  ),
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  advisor_tool_result: serverResult,
  mcp_tool_use: serverBlock,
  mcp_tool_result: serverBlock,
  mcp_tool_listing: serverBlock,
  container_upload: serverBlock,
  compaction: serverBlock,
  fallback: serverBlock,
  tool_addition: serverBlock,
  tool_removal: serverBlock,
  tool_reference: serverBlock,
});

/** The content of a message or of a tool result. */
export function blocks(value: unknown, path: string): string | undefined {
  return list(block)(value, path);
}

export function objectOnly(value: unknown, path: string): string | undefined {
  return isObject(value) ? undefined : `${path}: Input should be an object`;
}

import type { Feature } from './feature.js';
import { everywhere, text, type Part } from './places.js';

/** Feature that is there where its mark is. */
export interface MarkedFeature extends Feature {
  readonly path: string;
  readonly mark: string;
}

/** Part of a feature: the mark, anywhere. */
export function markPart({ path, mark }: MarkedFeature): readonly Part[] {
  return [{ of: path, in: everywhere(text('', mark)) }];
}

const user = { role: 'user', content: 'x' };

function tool(type: string, fields: object = {}): MarkedFeature {
  const body = { input: 'x', tools: [{ type, ...fields }] };
  return { name: `the tool ${type}`, format: 'responses', body, path: 'tools[0]', mark: type };
}

function item(name: string, fields: object): MarkedFeature {
  const body = { input: [user, fields, user] };
  return { name, format: 'responses', body, path: 'input[1]', mark: 'ITEMMARK' };
}

function part(format: 'chat' | 'responses', name: string, fields: object, at = ''): MarkedFeature {
  const turn = {
    role: 'user',
    content: [{ type: format === 'chat' ? 'text' : 'input_text', text: 'x' }, fields],
  };
  const [list, body] = format === 'chat' ? ['messages', { messages: [turn] }] : ['input', { input: [turn] }];
  return { name, format, body, path: `${list}[0].content[1]${at}`, mark: 'PARTMARK' };
}

const cache_control = { type: 'ephemeral' };

function marked(name: string, body: MarkedFeature['body'], path: string): MarkedFeature {
  return { name, format: 'chat', body, path, mark: 'ephemeral' };
}

/** Tools that a vendor runs, objects of an account, audio, markers, and names of those who speak. */
export const ownFeatures: readonly MarkedFeature[] = [
  tool('mcp', { server_label: 'a', server_url: 'http://127.0.0.1:9/mcp' }),
  tool('file_search', { vector_store_ids: ['vs_1'] }),
  tool('code_interpreter', { container: { type: 'auto' } }),
  tool('computer_use_preview', { display_width: 1, display_height: 1, environment: 'linux' }),
  tool('image_generation'),
  tool('local_shell'),
  tool('shell'),
  tool('apply_patch'),
  item('a call of mcp', {
    type: 'mcp_call',
    id: 'mcp_1',
    name: 'ITEMMARK',
    arguments: '{}',
    server_label: 'a',
  }),
  item('a call of file_search', { type: 'file_search_call', id: 'fs_1', queries: ['ITEMMARK'] }),
  item('a call of code_interpreter', { type: 'code_interpreter_call', id: 'ci_1', code: 'ITEMMARK' }),
  item('a call of computer_use', { type: 'computer_call', id: 'cu_1', call_id: 'ITEMMARK', action: {} }),
  item('a call of image_generation', { type: 'image_generation_call', id: 'ig_1', result: 'ITEMMARK' }),
  item('a call of local_shell', { type: 'local_shell_call', id: 'ls_1', action: { command: ['ITEMMARK'] } }),
  item('a search', { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'ITEMMARK' } }),
  part('responses', 'the id of a file', { type: 'input_file', file_id: 'PARTMARK' }),
  part('responses', 'the id of an image', { type: 'input_image', file_id: 'PARTMARK' }),
  part('responses', 'audio', { type: 'input_audio', input_audio: { data: 'PARTMARK', format: 'wav' } }),
  part('chat', 'the id of a file', { type: 'file', file: { file_id: 'PARTMARK' } }),
  part('chat', 'audio', { type: 'input_audio', input_audio: { data: 'PARTMARK', format: 'wav' } }),
  part('chat', 'a video', { type: 'video_url', video_url: { url: 'http://127.0.0.1:9/PARTMARK' } }),
  marked('a marker of a message', { messages: [{ ...user, cache_control }] }, 'messages[0].cache_control'),
  marked(
    'a marker of a tool',
    { messages: [user], tools: [{ type: 'function', function: { name: 'f' }, cache_control }] },
    'tools[0].cache_control',
  ),
  marked(
    'a marker by its name in Chat',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } }],
        },
      ],
    },
    'messages[0].content[0].prompt_cache_breakpoint',
  ),
  {
    name: 'the suffix of a completion',
    format: 'completions',
    body: { prompt: 'x', suffix: 'PARTMARK' },
    path: 'suffix',
    mark: 'PARTMARK',
  },
  {
    name: 'an audio answer',
    format: 'chat',
    body: { messages: [user, { role: 'assistant', audio: { id: 'PARTMARK' }, content: 'y' }, user] },
    path: 'messages[1].audio',
    mark: 'PARTMARK',
  },
  {
    name: 'the name of a late system message',
    format: 'chat',
    body: {
      messages: [
        user,
        { role: 'assistant', content: 'y' },
        { role: 'system', name: 'NAMEMARK', content: 's' },
        user,
      ],
    },
    path: 'messages[2].name',
    mark: 'NAMEMARK',
  },
  {
    name: 'the name of the first of two speakers',
    format: 'chat',
    body: {
      messages: [
        user,
        { role: 'assistant', name: 'NAMEMARK', content: 'y' },
        { role: 'assistant', name: 'bob', content: 'z' },
        user,
      ],
    },
    path: 'messages[1].name',
    mark: 'NAMEMARK',
  },
];

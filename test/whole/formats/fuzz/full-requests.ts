const model = 'sonnet-5';
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = 'JVBERi0xLjQK';
const cache_control = { type: 'ephemeral', ttl: '5m' };
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const image = { type: 'base64', media_type: 'image/png', data: png };
const page = 'https://example.com/a';
const grammar = { syntax: 'lark', definition: 'start: "x"' };
const place = { type: 'approximate', city: 'Paris' };

/** A request of a format with nearly every field that it has, by path. */
export const fullRequests: readonly (readonly [path: string, body: object])[] = [
  ['/v1/messages', {
    model, max_tokens: 9000, temperature: 1, top_p: 0.9, top_k: 5, stop_sequences: ['x'], cache_control,
    metadata: { user_id: 'u' }, service_tier: 'auto', container: null, context_management: { edits: [] },
    thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    system: [{ type: 'text', text: 'S', cache_control, citations: null }],
    tools: [
      { type: 'custom', name: 'f', description: 'd', input_schema: schema, strict: false, cache_control, defer_loading: false, input_examples: [{ city: 'x' }], allowed_callers: ['direct'], eager_input_streaming: true },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['a.com'], user_location: place },
    ],
    messages: [
      { role: 'user', content: [
        { type: 'text', text: 'Go.', cache_control, citations: [] }, { type: 'image', source: image, cache_control },
        { type: 'image', source: { type: 'url', url: page } },
        { type: 'document', title: 't', context: 'c', citations: { enabled: true }, source: { type: 'text', media_type: 'text/plain', data: 'D' }, cache_control },
        { type: 'document', title: 't', context: 'c', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
        { type: 'document', title: 't', context: 'c', source: { type: 'content', content: [{ type: 'text', text: 'cc' }] } },
        { type: 'document', source: { type: 'url', url: page } },
        { type: 'search_result', source: page, title: 'T', content: [{ type: 'text', text: 'sr' }], citations: { enabled: true }, cache_control },
      ] },
      { role: 'assistant', content: [
        { type: 'thinking', thinking: 'T', signature: 'c2ln' }, { type: 'redacted_thinking', data: 'x' },
        { type: 'text', text: 'y', citations: [{ type: 'char_location', cited_text: 'D', document_index: 0, document_title: 't', start_char_index: 0, end_char_index: 1 }] },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: page, title: 't', encrypted_content: 'e', page_age: null }] },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { city: 'P' }, caller: { type: 'direct' }, cache_control },
        { type: 'tool_use', id: 'toolu_2', name: 'f', input: { city: 'Q' } },
      ] },
      { role: 'user', content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, cache_control, content: [
          { type: 'text', text: 'r', cache_control }, { type: 'image', source: image },
          { type: 'document', title: 'd', source: { type: 'text', media_type: 'text/plain', data: 'D' } },
          { type: 'search_result', source: page, title: 'T', content: [{ type: 'text', text: 'sr2' }] },
          { type: 'tool_reference', tool_name: 'f' },
        ] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'plain' }, { type: 'text', text: 'more' },
      ] },
      { role: 'system', content: [{ type: 'text', text: 'late' }] }, { role: 'assistant', content: 'ok' }, { role: 'user', content: 'last' },
    ],
  }],
  ['/v1/messages/count_tokens', {
    model, system: 'S', messages: [{ role: 'user', content: 'x' }], tools: [{ name: 'f', input_schema: schema }],
    tool_choice: { type: 'tool', name: 'f' }, thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' },
    output_format: { type: 'json_schema', schema }, mcp_servers: [],
  }],
  ['/v1/chat/completions', {
    model, stream_options: { include_usage: true }, temperature: 0.3, top_p: 0.8, top_k: 4, stop: ['x'], user: 'u', max_tokens: 100, max_completion_tokens: 200, n: 1, prompt_cache_key: 'k',
    reasoning_effort: 'low', reasoning: { max_tokens: 2000, exclude: false, enabled: true }, thinking: { type: 'enabled', budget_tokens: 3000, display: 'summarized' },
    response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema, description: 'd' } }, parallel_tool_calls: false, seed: 4, frequency_penalty: 0.5, presence_penalty: 0.5,
    logit_bias: { 4: 1 }, verbosity: 'low', prediction: { type: 'content', content: 'p' }, metadata: { a: 'b' }, store: false, logprobs: false, top_logprobs: 0, modalities: ['text'],
    web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'P', country: 'FR' } }, filters: { allowed_domains: ['a.com'] }, cache_control },
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] } },
    tools: [
      { type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true, cache_control }, cache_control },
      { type: 'custom', custom: { name: 'c', description: 'd', format: { type: 'grammar', grammar }, cache_control } },
      { name: 'g', description: 'd', input_schema: schema }, { type: 'function', name: 'h', parameters: schema, strict: false },
      { type: 'custom', name: 'i', format: { type: 'grammar', ...grammar } },
    ],
    functions: [{ name: 'old', description: 'd', parameters: schema }], function_call: { name: 'old' },
    messages: [
      { role: 'system', name: 's', cache_control, content: [{ type: 'text', text: 'S', cache_control, prompt_cache_breakpoint: { mode: 'x' } }] },
      { role: 'developer', content: 'dev' },
      { role: 'user', name: 'al', content: [
        { type: 'text', text: 'u', cache_control }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}`, detail: 'low' } }, { type: 'image_url', image_url: page },
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } }, { type: 'image', source: image },
        { type: 'document', title: 't', context: 'c', citations: { enabled: true }, source: { type: 'text', media_type: 'text/plain', data: 'D' } },
        { type: 'input_text', text: 'it' }, { type: 'input_image', image_url: page, detail: 'low' }, { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' },
      ] },
      { role: 'assistant', refusal: 'r', name: 'b', reasoning_content: 'rc', audio: { id: 'x' }, function_call: { name: 'old', arguments: '{"city":"Q"}' },
        content: [{ type: 'text', text: 'a' }, { type: 'refusal', refusal: 'no' }, { type: 'thinking', thinking: 't', signature: 's' }, { type: 'tool_use', id: 'toolu_9', name: 'f', input: { city: 'x' } }],
        reasoning_details: [{ type: 'reasoning.text', text: 't', signature: 's', format: 'anthropic-claude-v1' }],
        tool_calls: [
          { id: 'call_1', type: 'function', index: 0, function: { name: 'f', arguments: '{"city":"P"}' } },
          { id: 'call_2', type: 'custom', custom: { name: 'c', input: 'raw' } },
          { id: 'call_3', type: 'function', function: { name: 'i', arguments: 'raw text' } },
        ] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'r' }], name: 'f', cache_control },
      { role: 'tool', tool_call_id: 'call_2', content: 'r2' }, { role: 'tool', tool_call_id: 'call_3', content: 'r3' }, { role: 'function', name: 'old', content: 'r4' },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: [{ type: 'text', text: 'tr' }], is_error: true }] },
      { role: 'system', content: 'late' }, { role: 'assistant', content: null, tool_calls: [] }, { role: 'user', content: 'last' },
    ],
  }],
  ['/v1/chat/completions', {
    model, stream_options: { include_usage: true }, store: false, max_completion_tokens: 300, reasoning_effort: 'low', tool_choice: { type: 'tool', name: 'f' }, truncation: 'auto', include: [],
    previous_response_id: null, user: 'u', metadata: { a: 'b' }, response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
    tools: [
      { type: 'function', name: 'f', description: 'd', parameters: schema }, { name: 'g', input_schema: schema },
      { type: 'custom', name: 'c', description: 'd', format: { type: 'grammar', ...grammar } }, { type: 'function', function: { name: 'h', parameters: schema } },
    ],
    input: [
      { role: 'system', content: 'S' }, { role: 'user', content: [{ type: 'input_text', text: 'u' }, { type: 'text', text: 't' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }, { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'o' }, { role: 'user', content: 'last' },
    ],
  }],
  ['/v1/responses', {
    model, stream_options: { include_obfuscation: false }, instructions: 'I', previous_response_id: null, store: false, include: ['reasoning.encrypted_content'], max_tool_calls: 3, max_output_tokens: 300,
    reasoning: { effort: 'low', summary: 'auto', generate_summary: 'auto' }, thinking: { type: 'enabled', budget_tokens: 3000, display: 'summarized' },
    text: { format: { type: 'json_schema', name: 'n', schema, strict: true, description: 'd' }, verbosity: 'low' }, prompt_cache_key: 'k', temperature: 0.4, top_p: 0.7, top_k: 3, user: 'u',
    truncation: 'auto', metadata: { a: 'b' }, parallel_tool_calls: false, safety_identifier: 's', service_tier: 'auto', background: false, conversation: null, prompt: null, generate: true, top_logprobs: 0,
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    tools: [
      { type: 'function', name: 'f', description: 'd', parameters: schema, strict: true, defer_loading: false, cache_control },
      { type: 'custom', name: 'c', description: 'd', format: { type: 'grammar', ...grammar } },
      { type: 'namespace', name: 'ns', description: 'd', tools: [{ type: 'function', name: 'g', description: 'd', parameters: schema, strict: false }] },
      { type: 'web_search', search_context_size: 'low', user_location: place, filters: { allowed_domains: ['a.com'] }, cache_control },
    ],
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'dev', cache_control, prompt_cache_breakpoint: { mode: 'x' } }] },
      { type: 'message', role: 'user', id: 'msg_1', status: 'completed', content: [
        { type: 'input_text', text: 'u' }, { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'low', file_id: null },
        { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` }, { type: 'input_file', file_url: page },
      ] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 's' }], content: [{ type: 'reasoning_text', text: 'plain' }], encrypted_content: null, status: 'completed' },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"city":"P"}', status: 'completed' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'c', input: 'raw', status: 'completed' },
      { type: 'function_call', call_id: 'call_3', name: 'g', namespace: 'ns', arguments: '{}' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'call_1', output: [{ type: 'input_text', text: 'o' }, { type: 'input_image', image_url: page }], status: 'completed' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'o2' }, { type: 'function_call_output', call_id: 'call_3', output: 'o3' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'y', annotations: [], logprobs: [] }, { type: 'refusal', refusal: 'r' }], phase: 'commentary', status: 'completed', id: 'msg_2' },
      { type: 'additional_tools', tools: [{ type: 'function', name: 'k', parameters: schema }] }, { role: 'system', content: 'late' }, { role: 'user', content: 'last' },
    ],
  }],
  ['/v1/completions', {
    model, prompt: 'x', n: 1, echo: false, max_tokens: 10, stop: ['x'], stream_options: { include_usage: true }, temperature: 0.4, top_p: 0.5, top_k: 3, user: 'u', logprobs: 0, seed: 4, suffix: 's', best_of: 1,
    frequency_penalty: 0.1, presence_penalty: 0.1,
  }],
]; // prettier-ignore

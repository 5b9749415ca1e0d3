import { expect } from 'chai';
import { cacheMarkers, mapCacheMarkers, type MessagesRequest } from '#src/plugin/index.js';
import type { CacheControl } from '#src/plugin/format/index.js';

describe('cache markers', () => {
  const nested = [{ type: 'text', text: 'x', cache_control: marker('inner') }] as const;
  const request: MessagesRequest = {
    model: 'm',
    cache_control: marker('top'),
    messages: [
      { role: 'user', content: 'no marker here' },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: nested, cache_control: marker('result') },
        ],
      },
    ],
    system: [{ type: 'text', text: 's', cache_control: marker('system') }],
    tools: [
      { name: 't', cache_control: marker('tool') },
      { name: 'u', cache_control: null },
    ],
  };

  it('are found in the order in which the upstream reads them', () => {
    const names = cacheMarkers(request).map((found) => (found as { name?: string }).name);
    expect(names).to.deep.equal(['tool', 'system', 'inner', 'result', 'top']);
  });

  it('can each be replaced, and everything else stays the same object', () => {
    const changed = mapCacheMarkers(request, (found) =>
      found === request.cache_control ? found : { ...found, ttl: '5m' },
    );
    expect(cacheMarkers(changed).map(({ ttl }) => ttl)).to.deep.equal(['5m', '5m', '5m', '5m', undefined]);
    expect(changed.messages[0]).to.equal(request.messages[0]);
    expect(Object.keys(changed)).to.deep.equal(Object.keys(request));
  });

  it('leave the very same request where nothing changes', () => {
    expect(mapCacheMarkers(request, (found) => found)).to.equal(request);
  });

  it('are not looked for in what a tool was called with', () => {
    const input = { cache_control: { type: 'ephemeral' }, content: [{ cache_control: {} }] };
    const content = [{ type: 'tool_use', id: 't', name: 'n', input }] as const;
    expect(cacheMarkers({ model: 'm', messages: [{ role: 'assistant', content }] })).to.deep.equal([]);
  });

  it('are not looked for where a body is not what it should be', () => {
    const odd = { model: 'm', messages: [null, 5, { content: null }], system: 7, tools: { a: 1 } };
    expect(cacheMarkers(odd as unknown as MessagesRequest)).to.deep.equal([]);
  });
});

function marker(name: string): CacheControl {
  return { type: 'ephemeral', name } as CacheControl;
}

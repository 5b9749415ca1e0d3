import { expect } from 'chai';
import { fakeFormat } from '@gw2api/gateway/testing';
import type { FormatRoute } from '#src/plugin/format/index.js';
import { v1Routes } from '#src/features/openapi/v1.js';

describe('the description of a route of a format that does not say what it answers', () => {
  const openapi = { summary: 'Lines.' };

  const answerOf = (route: FormatRoute): unknown => {
    const format = { ...fakeFormat('lines'), routes: [route] };
    return v1Routes([format]).find(({ path }) => path === '/lines')?.answers[200];
  };

  it('has the answer of a token count', () => {
    const route = { method: 'POST', path: '/lines', operation: 'count-tokens', openapi } as const;
    expect(JSON.stringify(answerOf(route))).to.include('input_tokens');
  });

  it('has any answer of a call of the model, and of a route that the format answers itself', () => {
    const route = { method: 'POST', path: '/lines', openapi } as const;
    expect(answerOf({ ...route, operation: 'generate' })).to.deep.equal({});
    expect(answerOf({ ...route, operation: 'route', handle: () => undefined })).to.deep.equal({});
  });
});

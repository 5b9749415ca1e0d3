import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { createRoutes } from '#src/engine/http/routes.js';
import { ask, masterKey, startPair, type Pair } from '../harness.js';
import { operatorRoutes } from './operator-routes.js';
import { checkAnswer, readDocument } from './panel-client.js';
import { RawClient, head } from '../raw-client.js';

describe('/openapi.json', () => {
  let pair: Pair;
  let document: Awaited<ReturnType<typeof readDocument>>;
  before(async () => {
    pair = await startPair();
    document = await readDocument(pair.url);
  });
  after(() => pair.close());

  const operations = () =>
    Object.entries(document['paths'] as Record<string, Record<string, { operationId: string }>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );

  it('is a valid OpenAPI 3.1 document, for anybody to read', async () => {
    const response = await fetch(`${pair.url}/openapi.json`);
    expect(response.headers.get('content-type')).to.include('application/json');
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document) as Record<string, unknown>);
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
  });

  it('has every route, and no other', async () => {
    const { gateway } = pair;
    // What the routes do is of no matter here: they are only looked at.
    const ofRequests = createRoutes(gateway.runtime as never).tables.flatMap(({ routes }) => routes);
    const ofOperators = (await operatorRoutes(gateway)).map(({ path, method }) => ({
      path,
      methods: [method],
    }));
    const served = [...ofRequests, ...ofOperators]
      .flatMap(({ path, methods }) => methods.map((method) => `${method} ${templateOf(path)}`))
      .filter((each) => !each.startsWith('HEAD ') && !each.endsWith('/*rest')); // an id with slashes
    const described = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(described.toSorted(inOrder)).to.deep.equal([...served, 'GET /openapi.json'].toSorted(inOrder));
  });

  it('gives every operation a name of its own', () => {
    const names = operations().map(({ operation }) => operation.operationId);
    expect(new Set(names).size).to.equal(names.length);
  });

  it('says of answers what they are', async () => {
    for (const path of [
      '/health',
      '/',
      '/v1/meta',
      '/v1/models',
      '/v1/models/sonnet-5',
      '/admin/slots',
      '/admin/pipeline',
      '/admin/config',
    ]) {
      const response = await pair.get(path);
      checkAnswer(document, { method: 'GET', path, status: response.status, answer: await response.json() });
    }
    const messages = [{ role: 'user', content: 'Hello!' }];
    for (const [path, body, open] of [
      ['/v1/messages', ask('Hello!'), true],
      ['/v1/messages/count_tokens', ask('Hello!', { max_tokens: undefined }), false],
      ['/v1/chat/completions', { model: 'sonnet-5', messages }, true],
      ['/v1/responses', { model: 'sonnet-5', input: 'Hello!' }, true],
      ['/v1/completions', { model: 'sonnet-5', prompt: 'Hello!' }, true],
      ['/admin/reload', {}, false],
      ['/admin/slots/a/diagnose', {}, false],
      ['/admin/slots/a/pause', {}, false],
    ] as const) {
      const response = await pair.post(path, body);
      const answer: unknown = await response.json();
      checkAnswer(document, { method: 'POST', path, status: response.status, answer, isOpen: open });
    }
  });

  interface Described {
    readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
  }

  function described(method: string, path: string): Described {
    const paths = document['paths'] as Record<string, Record<string, Described>>;
    return paths[path]![method]!;
  }

  it('lets a client leave out what has a default', () => {
    const { schema } = described('post', '/api/panel/slots').requestBody!.content['application/json']!;
    expect(schema).to.have.deep.property('required', ['id', 'upstream']);
    for (const { operation, path } of operations())
      for (const query of (operation as { parameters?: { required: boolean; schema: object }[] })
        .parameters ?? [])
        expect(query.required && 'default' in query.schema, path).to.equal(false);
  });

  it('has a body for every PATCH, of which each field may be left out', () => {
    for (const { method, path } of operations().filter((each) => each.method === 'patch')) {
      const { schema } = described(method, path).requestBody!.content['application/json']!;
      expect(schema, path).to.have.property('properties');
      expect(schema, path).not.to.have.property('required');
    }
    const { schema } = described('patch', '/api/panel/slots/{id}').requestBody!.content['application/json']!;
    expect(schema).to.have.nested.property('properties.maxConcurrent.anyOf[1].type', 'null');
  });

  it('describes by name what comes in several answers, and nothing that comes in none', () => {
    const { schemas } = document['components'] as { schemas: Record<string, object> };
    expect(Object.keys(schemas)).to.include.members(['Error', 'PanelSlot', 'Key', 'Request']);
    const text = JSON.stringify(document);
    for (const name of Object.keys(schemas))
      expect(text, name).to.include(`"$ref":"#/components/schemas/${name}"`);
  });

  it('says which errors a route answers with', () => {
    const { responses } = described('post', '/v1/messages');
    expect(responses).to.include.keys(
      '400',
      '401',
      '403',
      '404',
      '408',
      '413',
      '415',
      '429',
      '502',
      '503',
      '504',
    );
    expect(responses['413']!.description).to.equal('`body_too_large`');
    expect(described('get', '/health').responses).to.have.keys('200', '503', 'default');
  });

  it('is sent compressed to whoever takes that, and once', async () => {
    const get = (headers: Readonly<Record<string, string>>) => fetch(`${pair.url}/openapi.json`, { headers });
    const plain = await get({ 'accept-encoding': 'identity' });
    const [text, tag] = [await plain.text(), plain.headers.get('etag')!];
    expect(plain.headers.get('content-encoding')).to.equal(null);
    const packed = await get({ 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).to.equal('gzip');
    expect(Number(packed.headers.get('content-length'))).to.be.below(text.length / 4);
    expect(await packed.text()).to.equal(text);
    const client = await RawClient.open(pair.url); // fetch would ask for no cached answer
    const asked = { 'accept-encoding': 'identity', 'if-none-match': tag };
    client.send(`${head('GET /openapi.json', asked)}\r\n`);
    expect(await client.answer()).to.include({ status: 304, body: '' });
    client.close();
    expect(packed.headers.get('etag')).not.to.equal(tag);
  });

  it('names the formats that a list may be filtered by', () => {
    const { parameters } = described('get', '/api/panel/requests') as unknown as {
      parameters: readonly { name: string; schema: object }[];
    };
    const format = parameters.find(({ name }) => name === 'format')!;
    expect(format.schema).to.deep.equal({
      type: 'string',
      enum: ['messages', 'chat', 'responses', 'completions'],
    });
  });

  it('says of what comes in other types than JSON which they are', () => {
    const typesOf = (method: string, path: string, status: string) => {
      const { responses } = described(method, path);
      return Object.keys((responses[status] as unknown as { content: object }).content);
    };
    expect(typesOf('get', '/api/panel/audit/export', '200')).to.deep.equal(['application/json', 'text/csv']);
    for (const path of ['/api/panel/oidc/login', '/api/panel/oidc/callback'])
      expect(typesOf('get', path, 'default'), path).to.deep.equal(['text/html']);
    const { schema } = described('post', '/v1/completions').requestBody!.content['application/json']!;
    expect(schema).to.have.nested.property('properties.prompt.anyOf');
    expect(JSON.stringify(schema)).not.to.match(/"prompt":\{[^}]*null/);
  });

  it('is told to whoever asks with another method', async () => {
    const response = await fetch(`${pair.url}/openapi.json`, {
      method: 'POST',
      headers: { 'x-api-key': masterKey },
    });
    expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    expect((await fetch(`${pair.url}/openapi.json`, { method: 'HEAD' })).status).to.equal(200);
  });
});

/** `{/v1}/models/:id` as the document has it: under /v1 all is also without it. */
function templateOf(path: string): string {
  return path.replace('{/v1}', '/v1').replaceAll(/:(\w+)/g, '{$1}');
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : 1;
}

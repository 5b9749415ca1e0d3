import { expect } from 'chai';
import { compileCheck } from '#src/plugin/format/index.js';
import { closeSchema } from './close-schema.js';
import { masterKey } from '../harness.js';

type Json = Readonly<Record<string, unknown>>;

/** What a test reads of an answer; it has been checked against the OpenAPI document. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any;

/** Calls the panel of a gateway, and holds every answer to what the OpenAPI document says of it. */
export class PanelClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #document: Promise<Json> | undefined;

  constructor(url: string, headers: Readonly<Record<string, string>> = { 'x-api-key': masterKey }) {
    this.#url = url;
    this.#headers = headers;
  }

  fetch(method: string, path: string, body?: unknown): Promise<Response> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return fetch(`${this.#url}/api/panel${path}`, {
      method,
      headers: { ...this.#headers, ...json },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  get(path: string): Promise<Answer> {
    return this.ask('GET', path);
  }

  /** The body of an answer that is no error. */
  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.fetch(method, path, body);
    const text = await response.text();
    expect(response.status, text).to.be.below(300);
    if (text === '') return undefined;
    const answer: unknown = JSON.parse(text);
    this.#document ??= readDocument(this.#url);
    checkAnswer(await this.#document, { method, path: `/api/panel${path}`, status: response.status, answer });
    return answer;
  }
}

export async function readDocument(url: string): Promise<Json> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as Json;
}

interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly answer: unknown;
  /** Whether it may have fields that are not in the document: what models say may. */
  readonly isOpen?: boolean;
}

/** Throws where an answer is not as the document says, also where it has a field that is not in there. */
export function checkAnswer(document: Json, { method, path, status, answer, isOpen }: Answered): void {
  const paths = document['paths'] as Record<string, Record<string, Operation>>;
  const [bare] = path.split('?') as [string];
  const known = Object.keys(paths).find((each) => each === bare) ?? Object.keys(paths).find(matches(bare));
  const schema =
    paths[known ?? '']?.[method.toLowerCase()]?.responses[String(status)]?.content['application/json'].schema;
  if (!schema) throw new Error(`the document has no ${method} ${path} with ${status}`);
  const errors = checkOf(plainText(schema, document), isOpen)(answer);
  expect(errors, `${method} ${path}`).to.deep.equal([]);
}

type Check = ReturnType<typeof compileCheck>;

/** Checks by the text of their schema: to compile one takes longer than the call that it is for. */
const checks = new Map<string, Check>();

function checkOf(text: string, isOpen = false): Check {
  const key = `${isOpen} ${text}`;
  const known = checks.get(key);
  if (known) return known;
  const schema = JSON.parse(text) as Json;
  const made = compileCheck(isOpen ? schema : closeSchema(schema));
  checks.set(key, made);
  return made;
}

/** A schema without references and formats, as JSON: our own check follows no references and knows no formats. */
function plainText(schema: Json, document: Json): string {
  const { schemas } = document['components'] as { schemas: Json };
  return JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'format' && typeof value === 'string') return undefined;
    const { $ref } = Object(value) as { $ref?: unknown };
    return typeof $ref === 'string' ? schemas[$ref.slice('#/components/schemas/'.length)] : value;
  });
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: { readonly 'application/json': { readonly schema: Json } } }>
  >;
}

function matches(path: string): (template: string) => boolean {
  return (template) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
}

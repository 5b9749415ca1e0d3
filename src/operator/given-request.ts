import { Closed } from '../kit/schema/type.js';
import { GatewayError, Type } from '../plugin/index.js';
import { isRecord } from '../kit/schema/record.js';
import type { AuditedAction } from '../state/audit/audited-action.js';

/** Request from an operator, with the key that sends it. */
export interface GivenRequest {
  /** Path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Name or id of a key, `master`, or null for a caller without a key. */
  readonly as: string | null;
}

const Text = Type.String();

/** Schema of such a request, for the API's description. */
export const GivenRequestBody = Closed({
  post: Type.Optional(Type.String({ description: 'Path with its query; default `/v1/messages`.' })),
  headers: Type.Optional(Type.Record(Text, Text)),
  body: Type.Unknown({ description: 'Body of the request: JSON, or its text.' }),
  as: Type.Optional(
    Type.Union([Text, Type.Null()], {
      description: 'Name or id of its key; `master`, which is the default; null: a caller without a key.',
    }),
  ),
});

const fields = Object.keys(GivenRequestBody.properties);

/** Reads such a request. Throws `invalid_request`. */
export function readGivenRequest(value: unknown): GivenRequest {
  if (!isRecord(value)) throw invalid('body: must be an object');
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined)
    throw invalid(`${JSON.stringify(unknown)}: unknown field; known: ${fields.join(', ')}`);
  const { post = '/v1/messages', headers = {}, body, as = 'master' } = value;
  if (typeof post !== 'string' || !/^\/[\x21-\x7e]{0,2000}$/.test(post))
    throw invalid('post: must be a path');
  if (body === undefined) throw invalid('body: must be the request to explain');
  if (as !== null && (typeof as !== 'string' || as.length > maxName))
    throw invalid('as: must be the name of a key');
  if (!isRecord(headers)) throw invalid('headers: must be an object');
  const texts = Object.entries(headers).map(([name, text]) => {
    if (
      typeof text !== 'string' ||
      !/^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name) ||
      /[^\t\x20-\x7e\x80-\xff]/.test(text)
    )
      throw invalid(`headers: ${JSON.stringify(name)} must be a header with a text`);
    return [name, text] as const;
  });
  return { path: post, headers: Object.fromEntries(texts), body, as };
}

const maxName = 300;

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

/** Adds the given request to the audit log: its key and its path. */
export function noteGiven(call: GivenRequest, audit: AuditedAction): GivenRequest {
  const [path = ''] = call.path.split('?', 1); // a query may hold a credential
  audit.note({ key: call.as, path });
  return call;
}

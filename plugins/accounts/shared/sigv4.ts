import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { Credential, OutgoingRequest } from '@gw2api/gateway/plugin/upstream';

/** Keys of an AWS account; a session token makes them temporary. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

interface Signing {
  readonly keys: AwsKeys;
  readonly region: string;
  readonly service: string;
  /** Time of the signature, unix milliseconds. */
  readonly atMs: number;
}

/**
 * Headers that sign an outgoing request: Signature Version 4 over its method, path, query, body, host and the headers
 * of the API.
 */
export async function signed(request: OutgoingRequest, signing: Signing): Promise<Credential> {
  const { method, origin, path, headers, body = '' } = request;
  const { keys, region, service, atMs } = signing;
  const signer = new AwsV4Signer({
    method,
    url: `${origin}${path}`,
    headers: { ...signable(headers), [hashHeader]: createHash('sha256').update(body).digest('hex') },
    datetime: timestamp(atMs),
    allHeaders: true,
    region,
    service,
    accessKeyId: keys.accessKeyId,
    secretAccessKey: keys.secretAccessKey,
    ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
  });
  const { headers: all } = await signer.sign();
  return Object.fromEntries(proofs.flatMap((name) => [[name, all.get(name)]]).filter(isPresent));
}

const hashHeader = 'x-amz-content-sha256';

/** Headers of the proof; the other signed ones are on the request already. */
const proofs = ['authorization', 'x-amz-date', 'x-amz-security-token', hashHeader];

function isPresent(entry: (string | null | undefined)[]): entry is [string, string] {
  return typeof entry[1] === 'string';
}

/** Headers to sign: those of the API. Others may be changed on their way, by a proxy for example. */
function signable(headers: OutgoingRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(anthropic-|content-type$)/.test(name)),
  );
}

/** Time as AWS writes it: `20261122T101500Z`. */
function timestamp(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
}

/** Unix milliseconds of such a time; undefined for another text. */
export function timeOf(text: string | undefined): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '') ?? [];
  const [year = NaN, month = NaN, ...rest] = parts.map(Number);
  const atMs = Date.UTC(year, month - 1, ...rest);
  return Number.isNaN(atMs) ? undefined : atMs;
}

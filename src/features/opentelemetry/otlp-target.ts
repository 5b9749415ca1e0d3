import { unescape } from 'node:querystring';
import type { ExportSettings } from '../../config/sections/telemetry.js';

type TargetSettings = Pick<ExportSettings, 'endpoint' | 'headers' | 'protocol' | 'compression'>;

const contentTypes = { 'http/json': 'application/json', 'http/protobuf': 'application/x-protobuf' } as const;

/**
 * Address and headers of exports; `/v1/traces` is added to an address that is not exact and does not end with it. A user
 * in the address becomes an `authorization`, unless the headers have one.
 */
export function targetOf({ endpoint, headers, protocol, compression }: TargetSettings): {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  const url = new URL(endpoint.url);
  const path = url.pathname.replace(/\/+$/, '');
  if (!endpoint.isExact) url.pathname = path.endsWith('/v1/traces') ? path : `${path}/v1/traces`;
  const sent = new Headers();
  const user = `${unescape(url.username)}:${unescape(url.password)}`;
  if (user !== ':') sent.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`);
  [url.username, url.password] = ['', ''];
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  sent.set('content-type', contentTypes[protocol]);
  if (compression === 'gzip') sent.set('content-encoding', 'gzip');
  return { url: url.href, headers: Object.fromEntries(sent) };
}

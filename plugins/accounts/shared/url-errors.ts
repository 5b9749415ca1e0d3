import type { SchemaError } from '@gw2api/gateway/plugin/upstream';

/** Errors of an option that names a service; messages do not repeat it, because it may hold a password. */
export function urlErrors(key: string, url: string): readonly SchemaError[] {
  const protocol = URL.canParse(url) ? new URL(url).protocol : 'none';
  if (['http:', 'https:'].includes(protocol)) return [];
  return [{ path: [key], message: 'must be a URL that begins with http:// or https://' }];
}

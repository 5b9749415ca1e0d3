import { isLoopback } from '../plugin/index.js';
import type { SchemaError } from '../plugin/upstream/index.js';

/**
 * Rule for the address of a server, which may hold a password: characters that end a password early would make
 * the rest of it a host. The message does not repeat the address.
 */
export function addressErrors(path: SchemaError['path'], address: string): readonly SchemaError[] {
  const [, rest = ''] = /^[a-z][a-z\d+.-]*:\/\/(.*)$/is.exec(address) ?? [];
  const [beforeQuery = '', ...query] = rest.split('?');
  const ats = beforeQuery.split('@').length - 1;
  const isSplit = ats > 1 || beforeQuery.split('/').slice(1).join('/').includes('@');
  const isInQuery = ats === 0 && query.join('?').includes('@');
  if (!isSplit && !isInQuery && !rest.includes('#')) return [];
  const message =
    'must have its password percent-encoded ("@" is written "%40", "/" "%2F", "#" "%23", "?" "%3F"), or take it from a variable';
  return [{ path, message }];
}

/**
 * Encoder of values that variables put into the user or the password of an address, by their offsets in the text
 * before substitution. Encoded characters (`%40`) stay, and so does the ":" between user and password.
 */
export function addressEncoder(text: string): (value: string, offset: number) => string {
  if (!address.test(text)) return (value) => value;
  const [from, to] = [text.indexOf('//'), text.lastIndexOf('@')];
  return (value, offset) =>
    offset < from || offset > to ? value : value.replace(/%(?![\da-f]{2})|[^\w.~:%-]+/gi, encodeURIComponent);
}

const address = /^(?:postgres(?:ql)?|rediss?|https?|socks5h?):\/\//i;

/** Problem of an address that browsers and tokens rely on; messages do not repeat a password in it. */
export function addressProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    return 'must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
  if (url.search !== '' || url.hash !== '') return 'must have no query and no fragment';
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return 'must begin with https://; http:// is allowed only for loopback addresses';
  return undefined;
}

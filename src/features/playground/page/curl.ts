import type { GivenRequest } from '../../../console/web/request-form/request-form.js';
import { basePath } from '../../../console/web/state/base-path.js';

/** A command that sends the same request from elsewhere, with the key in a variable. */
export function curlOf({ post, headers, body }: GivenRequest): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = [
    `curl ${quoted(window.location.origin + basePath + post)}`,
    '-H "Authorization: Bearer $GW_KEY"',
    "-H 'content-type: application/json'",
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(text)}`,
  ];
  return lines.join(' \\\n  ');
}

/** Text in single quotes of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

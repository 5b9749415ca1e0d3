import { createHash } from 'node:crypto';
import type { OperatorContext } from '../../operator/route.js';

/**
 * Page that redirects to `to`, a path of this console. The session's cookie is sent only from a page of the same site,
 * unlike the provider's.
 */
export function sendHop(ctx: OperatorContext, to: string): void {
  const target = escaped(to);
  send(ctx, 200, {
    title: 'Signed in',
    head: `<meta http-equiv="refresh" content="0;url=${target}">`,
    body: `<p><a href="${target}">Go on to the console</a></p>`,
  });
}

/** Page of a login that has failed, with a link to the login at `home`. */
export function sendRefusal(ctx: OperatorContext, status: number, message: string, home: string): void {
  send(ctx, status, {
    title: 'You are not signed in',
    head: '',
    body: `<p>${escaped(message)}</p><p><a href="${escaped(home)}">Back to the login</a></p>`,
  });
}

interface Parts {
  readonly title: string;
  readonly head: string;
  readonly body: string;
}

function send(ctx: OperatorContext, status: number, { title, head, body }: Parts): void {
  ctx.status = status;
  ctx.set(
    'content-security-policy',
    `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
  );
  ctx.set('referrer-policy', 'no-referrer');
  ctx.type = 'html';
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${head}
<title>${title}</title>
<style>${style}</style>
<main><h1>${title}</h1>${body}</main>
</html>
`;
}

const style =
  'body{margin:0;min-height:100dvh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif}' +
  'main{max-width:28rem;padding:2rem}h1{font-size:1.25rem;margin:0 0 .5rem}a{color:inherit}';

const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

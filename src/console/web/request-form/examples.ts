/** Formats of the gateway, by the path that their requests go to. */
export const formats = [
  { id: 'messages', path: '/v1/messages', text: 'Messages' },
  { id: 'chat', path: '/v1/chat/completions', text: 'Chat Completions' },
  { id: 'responses', path: '/v1/responses', text: 'Responses' },
  { id: 'completions', path: '/v1/completions', text: 'Completions' },
  { id: 'count', path: '/v1/messages/count_tokens', text: 'Messages, count of tokens' },
] as const;

/** A small request in the format of a path, to begin with. */
export function exampleOf(path: string, model: string): string {
  const messages = [{ role: 'user', content: 'Hello' }];
  const bodies: Readonly<Record<string, object>> = {
    '/v1/messages': { model, max_tokens: 1024, stream: true, messages },
    '/v1/messages/count_tokens': { model, messages },
    '/v1/responses': { model, input: 'Hello' },
    '/v1/completions': { model, prompt: 'Hello' },
  };
  return JSON.stringify(bodies[path] ?? { model, messages }, null, 2);
}

/** Headers of a text with one a line; lines without a colon are left out. */
export function headersIn(text: string): Readonly<Record<string, string>> {
  const entries = text.split('\n').flatMap((line) => {
    const at = line.indexOf(':');
    return at > 0 ? [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()] as const] : [];
  });
  return Object.fromEntries(entries);
}

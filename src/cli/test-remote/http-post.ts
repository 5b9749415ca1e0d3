import http from 'node:http';
import https from 'node:https';

export interface Post {
  readonly url: URL;
  readonly agent: http.Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

export interface HttpReply {
  readonly status: number;
  readonly text: string;
  /** True if it came over a connection that had served before. */
  readonly isReused: boolean;
  /** Time from its head to its end. */
  readonly bodyMs: number;
}

/** Makes the agent of some connections, which are kept. */
export function connections({ protocol }: URL, count: number): http.Agent {
  const { Agent } = protocol === 'https:' ? https : http;
  return new Agent({ keepAlive: true, maxSockets: count });
}

/** Starts a POST; the body is sent by the caller. */
export function openPost({ url, agent, headers, body, signal }: Post): http.ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  const sent = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
  return request(url, { method: 'POST', agent, headers: sent, signal });
}

/** Sends a POST and reads its reply. Rejects for a connection that breaks, and for a reply above 64 MB. */
export function post(message: Post): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const request = openPost(message);
    request.on('error', reject);
    request.on('response', (response) => {
      const atMs = performance.now();
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > maxReplyBytes) response.destroy(new Error('the reply is longer than 64 MB'));
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString(),
          isReused: request.reusedSocket,
          bodyMs: performance.now() - atMs,
        }),
      );
    });
    request.end(message.body);
  });
}

const maxReplyBytes = 64 * 1024 * 1024;

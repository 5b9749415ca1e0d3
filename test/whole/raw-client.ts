import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that writes what no HTTP library would, and keeps all that comes back. */
export class RawClient {
  readonly socket: Socket;
  received = '';
  /** Resolves when the connection has ended, however it did. */
  readonly closed: Promise<void>;
  /** The error that the connection ended with, such as a reset. */
  error: NodeJS.ErrnoException | undefined;

  private constructor(url: string) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.socket.on('data', (chunk) => (this.received += chunk.toString('latin1')));
    this.socket.on('error', (error) => (this.error = error));
    this.closed = new Promise((resolve) => void this.socket.once('close', () => resolve()));
  }

  static async open(url: string): Promise<RawClient> {
    const client = new RawClient(url);
    await once(client.socket, 'connect');
    return client;
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** Resolves once what has come holds `text`; rejects where the connection ends without it. */
  async hears(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      const over = await Promise.race([
        once(this.socket, 'data').then(() => false),
        this.closed.then(() => true),
      ]);
      if (over && !this.received.includes(text))
        throw new Error(`closed (${this.error?.code ?? 'no error'}) after ${JSON.stringify(this.received)}`);
    }
  }

  /** The first answer: its status, its headers by lower-case name, its body. */
  async answer(): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: string }> {
    await this.hears('\r\n\r\n');
    const [head = '', ...rest] = this.received.split('\r\n\r\n');
    const [line = '', ...fields] = head.split('\r\n');
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.split(':', 1)[0]!.toLowerCase(),
        field.slice(field.indexOf(':') + 1).trim(),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    while (this.received.length < head.length + 4 + length) await once(this.socket, 'data');
    return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n').slice(0, length) };
  }

  /** Sends `text` again and again until the connection has ended, or for `times` pieces. */
  async trickle(text: string, everyMs: number): Promise<void> {
    const timer = setInterval(() => this.socket.writable && this.socket.write(text), everyMs);
    await this.closed;
    clearInterval(timer);
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The head of a request, without the empty line. */
export function head(line: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const fields = Object.entries({ host: 'gateway', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${line} HTTP/1.1\r\n${fields.join('')}`;
}

import { masterKey } from '../targets/issued-keys.js';

/** The panel of a gateway, as far as the measurements ask it. */
export class Panel {
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Gives the key itself. */
  async issueKey(name: string): Promise<string> {
    const { key } = (await this.#ask('POST', '/keys', { name })) as { readonly key: string }; // what it answers
    return key;
  }

  async keyNames(): Promise<readonly string[]> {
    const { data } = (await this.#ask('GET', '/keys')) as {
      readonly data: readonly { readonly name: string }[];
    };
    return data.map(({ name }) => name);
  }

  /** The `X-Request-ID` of every row of the ledger. */
  async requestIds(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await this.#ask('GET', `/requests?limit=1000${cursor && `&cursor=${cursor}`}`);
      ids.push(...page.data.map(({ request_id: id }) => id));
      cursor = page.next_cursor;
    }
    return ids;
  }

  // oxlint-disable-next-line typescript/no-explicit-any
  async #ask(method: string, path: string, body?: object): Promise<any> {
    const response = await fetch(`${this.#origin}/api/panel${path}`, {
      method,
      headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

interface Page {
  readonly data: readonly { readonly request_id: string }[];
  readonly next_cursor: string | null;
}

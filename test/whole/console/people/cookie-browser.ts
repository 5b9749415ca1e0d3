/** An answer after all redirects. */
export interface Visited {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
}

/** A browser without a screen: follows redirects, and keeps cookies by host with port and by path. */
export class CookieBrowser {
  readonly #jars = new Map<string, Map<string, Cookie>>();
  /** Each `set-cookie` as it came. */
  readonly lines: string[] = [];

  /** Loads a page; `until`: the address whose answer is not followed any more. */
  async visit(url: string, init: RequestInit = {}, until?: RegExp): Promise<Visited> {
    let next = url;
    let request = init;
    for (let hops = 0; hops < 12; hops += 1) {
      const headers = { ...Object(request.headers), cookie: this.cookies(next) };
      const response = await fetch(next, { ...request, headers, redirect: 'manual' });
      this.#keep(next, response.headers.getSetCookie());
      const to = response.headers.get('location');
      if (to === null || until?.test(new URL(to, next).href)) {
        const at = to === null ? next : new URL(to, next).href;
        return { url: at, status: response.status, text: await response.text(), headers: response.headers };
      }
      await response.arrayBuffer();
      next = new URL(to, next).href;
      request = {};
    }
    throw new Error(`too many redirects, at ${next}`);
  }

  /** Sends a form of the page. */
  submit(url: string, fields: Readonly<Record<string, string>>, until?: RegExp): Promise<Visited> {
    return this.visit(url, { method: 'POST', body: new URLSearchParams(fields) }, until);
  }

  /** The header `cookie` of a request. */
  cookies(url: string): string {
    const { host, pathname } = new URL(url);
    return [...(this.#jars.get(host) ?? [])]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  cookie(url: string, name: string): string | undefined {
    return this.#jars.get(new URL(url).host)?.get(name)?.value;
  }

  set(url: string, name: string, cookie: Cookie): void {
    const { host } = new URL(url);
    const jar = this.#jars.get(host) ?? new Map<string, Cookie>();
    this.#jars.set(host, jar.set(name, cookie));
  }

  #keep(url: string, lines: readonly string[]): void {
    for (const line of lines) {
      this.lines.push(line);
      const [pair = '', ...terms] = line.split(/; */);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const path = terms.find((term) => /^path=/i.test(term))?.slice(5) ?? '/';
      if (value === '' || terms.some((term) => /^max-age=0$/i.test(term)))
        this.#jars.get(new URL(url).host)?.delete(name);
      else this.set(url, name, { value, path });
    }
  }
}

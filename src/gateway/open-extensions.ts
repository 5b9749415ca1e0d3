import type { Config } from '../config/config.js';
import { GatewayError } from '../plugin/index.js';
import type { ExtensionName, ExtensionOf, Opened } from './extension.js';
import type { GatewayOptions } from './options.js';
import { RequestWatches } from './request-watches.js';

/** Open extensions of a gateway, the host. */
export class OpenExtensions<Host> {
  readonly watches = new RequestWatches();
  readonly #host: Host;
  /** By name, in the order of their opening. */
  readonly #opened = new Map<string, Promise<Opened<unknown>>>();
  #listed: readonly ExtensionOf<Host>[] = [];
  #isClosed = false;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Keeps a list of extensions, and opens those that start with the gateway, in its order. */
  async start(
    extensions: readonly ExtensionOf<Host>[],
    config: Config,
    options: GatewayOptions,
  ): Promise<void> {
    this.#listed = extensions;
    for (const extension of extensions) if (extension.starts?.(config, options)) await this.use(extension);
  }

  /** Value of an extension, which is opened at the first use. Throws `shutting_down` after the close. */
  async use<Api>(extension: ExtensionOf<Host, Api>): Promise<Api> {
    const opened = this.#opened.get(extension.name) ?? this.#open(extension);
    const { api } = await opened;
    return api as Api; // opened by the extension of this name
  }

  /** Value of the listed extension of this name, which is opened at the first use; undefined: none is listed. */
  async find<Api>({ name }: ExtensionName<Api>): Promise<Api | undefined> {
    const extension = this.#listed.find((listed) => listed.name === name);
    return extension && ((await this.use(extension)) as Api); // the name has its type
  }

  /** Value of an open extension; undefined if it has not been used. */
  async opened<Api>({ name }: ExtensionName<Api>): Promise<Api | undefined> {
    const opened = await this.#opened.get(name);
    return opened?.api as Api | undefined; // likewise
  }

  /** Closes all, the last first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const opening of [...this.#opened.values()].toReversed()) {
      const opened = await opening.catch(() => undefined); // thrown to those who use it
      await opened?.close?.();
    }
  }

  #open({ name, open }: ExtensionOf<Host>): Promise<Opened<unknown>> {
    if (this.#isClosed) throw new GatewayError('shutting_down', 'This gateway is shutting down.');
    const opening = open(this.#host).then(
      (opened) => {
        if (opened.watch) this.watches.add(opened.watch);
        return opened;
      },
      (error: unknown) => {
        this.#opened.delete(name);
        throw error;
      },
    );
    this.#opened.set(name, opening);
    return opening;
  }
}

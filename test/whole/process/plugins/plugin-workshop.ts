import { ask, configOf, slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { TempFolders, type Files } from '../../temp-folders.js';

/** A gateway from a config file in a folder of its own, somewhere outside of this package, with plugins beside it. */
export class PluginWorkshop {
  readonly #folders = new TempFolders();
  #upstream: HeldUpstream | undefined;
  #under: GatewayUnderTest | undefined;

  /** What the slots ask. */
  get upstream(): HeldUpstream {
    return this.#upstream!;
  }

  get under(): GatewayUnderTest {
    return this.#under!;
  }

  /** Throws what is wrong with the config. */
  async start(
    pipeline: readonly object[],
    files: Files = {},
    slots: readonly object[] = [{}],
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.#under?.close();
    this.#upstream ??= await startHeldUpstream();
    const { url } = this.#upstream;
    const config = configOf({ slots: slots.map((settings) => slotAt(url, settings)), pipeline });
    const folder = await this.#folders.make({ ...files, 'gateway.yaml': config });
    this.#under = await startGateway(`${folder}/gateway.yaml`, env);
  }

  /** An answer whose turn the upstream has finished; it says `Hello.` */
  async answered(
    body: object = ask('Hi'),
    headers: Readonly<Record<string, string>> = {},
    path = '/v1/messages',
  ): Promise<Response> {
    const response = this.under.post(path, body, headers);
    (await this.upstream.next()).finish();
    return response;
  }

  async end(): Promise<void> {
    await this.#upstream?.close();
    await this.#under?.close();
    await this.#folders.remove();
    this.#upstream = undefined;
    this.#under = undefined;
  }
}

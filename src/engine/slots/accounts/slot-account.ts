import type { Account, AccountHost } from '../../../plugin/upstream/index.js';
import type { AccountKind } from '../../../plugin/core.js';
import { requireMethod } from '../upstream/open-upstream.js';
import { SlotTokens, type AccountParts } from './slot-tokens.js';

interface OpenTokens {
  readonly tokens: SlotTokens;
  readonly isRepeatable: boolean;
}

/** Open account of a slot, with the tokens that it has in the store. */
export class SlotAccount {
  readonly kind: string;
  readonly reportsWindows: boolean;
  readonly authorize: Account['authorize'];
  readonly refresh: NonNullable<Account['refresh']>;
  readonly isRefusal: NonNullable<Account['isRefusal']>;
  /** Absent if the kind has none. */
  readonly probe: Account['probe'];
  readonly #account: Account;
  #started: Promise<void> | undefined;
  readonly #tokens: readonly OpenTokens[];

  private constructor(name: string, kind: AccountKind, account: Account, tokens: readonly OpenTokens[]) {
    this.kind = name;
    this.reportsWindows = kind.reports === 'windows';
    this.authorize = (request) => account.authorize(request);
    this.refresh = async (...refused) => (await account.refresh?.(...refused)) ?? false;
    this.isRefusal = (answer) => account.isRefusal?.(answer) ?? answer.status === 401;
    this.probe = account.probe?.bind(account);
    this.#account = account;
    this.#tokens = tokens;
  }

  /** Starts the account, once however many slots have it. */
  start(): Promise<void> {
    this.#started ??= (async () => this.#account.start?.())();
    return this.#started;
  }

  /** Opens an account of a kind; `name` is the kind as the config names it. */
  static async open(
    name: string,
    kind: AccountKind,
    options: unknown,
    parts: AccountParts,
  ): Promise<SlotAccount> {
    const { slotId, live, log, clock, connect, resolvePath, dry } = parts;
    const opened: OpenTokens[] = [];
    const host: AccountHost = {
      slot: { id: slotId },
      log,
      now: clock.now,
      clock,
      connect,
      resolvePath,
      dry,
      withLock: (work) => live.withLock(`${name}/${slotId}`, work),
      async tokens(origin, { isRepeatable } = { isRepeatable: false }) {
        const [tokens, stored] = await SlotTokens.open(origin, parts);
        opened.push({ tokens, isRepeatable });
        return [tokens, stored];
      },
    };
    const account = await kind.open(options, host);
    requireMethod(account, 'authorize');
    return new SlotAccount(name, kind, account, opened);
  }

  /** True if the only valid tokens are in the store, where they may be newer than in the config. */
  get isStored(): boolean {
    return this.#tokens.some(({ isRepeatable }) => !isRepeatable);
  }

  /** Receives a notice that another instance has renewed the tokens. */
  renewedElsewhere(): void {
    for (const { tokens } of this.#tokens) tokens.publish();
  }

  async close(): Promise<void> {
    await this.#account.close?.();
  }
}

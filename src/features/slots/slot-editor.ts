import type { AuditedAction } from '../../state/audit/audited-action.js';
import { GatewayError } from '../../plugin/index.js';
import type { SlotStatus } from '../../plugin/core.js';
import { SerialQueue } from '../../kit/serial-queue.js';
import type { StoredSlot } from '../../state/store/contract/store.js';
import { slotHistory } from './history/index.js';
import type { SlotForecast } from './history/forecasts.js';
import { invalid } from '../../operator/check.js';
import { guardSecretRedirect } from './secret-redirect.js';
import { mergePatch } from '../../operator/json.js';
import { readConsoleSlot } from '../../gateway/slots/console-slots.js';
import type { Gateway } from '../../gateway/gateway.js';
import { CachedFor } from '../../operator/cached-for.js';
import { withChangedSecrets } from './changed-secrets.js';
import { shownSlots, type ShownSlot } from './shown-slots.js';
import { consoleSlotReport, shownSettings } from './console-report.js';

/** A slot as written under `slots:`. */
export type Entry = Readonly<Record<string, unknown>>;

/** Max bytes of one slot's settings as JSON, patches included. */
export const maxEntryBytes = 64 * 1024;

/** Creates, changes and removes the slots of the console. */
export class SlotEditor {
  readonly #gateway: Gateway;
  readonly #sessions: CachedFor<ReadonlyMap<string, number>>;
  /** Each starts from the result of the one before. */
  readonly #changes = new SerialQueue();

  constructor(gateway: Gateway) {
    const { store, now } = gateway.services;
    this.#gateway = gateway;
    this.#sessions = new CachedFor(() => store.bindings.countBySlot(), { ms: countEveryMs, now });
  }

  readonly report = async (slot: ShownSlot): Promise<object> => {
    const [sessions, forecast] = await Promise.all([
      this.#sessions.get(),
      slot.status && this.#forecast(slot.status),
    ]);
    return consoleSlotReport(slot, sessions.get(slot.id) ?? 0, forecast);
  };

  async #forecast(status: SlotStatus): Promise<SlotForecast> {
    const { forecasts } = await this.#gateway.use(slotHistory);
    return forecasts.of(status);
  }

  /** The slot of an id. Throws `not_found`. */
  find(id: string): ShownSlot {
    const all = shownSlots(this.#gateway);
    const slot = all.find((each) => each.id === id);
    if (slot) return slot;
    const known = all.map((each) => `"${each.id}"`).join(', ');
    throw new GatewayError(
      'not_found',
      `Unknown slot ${JSON.stringify(id)}; known slots: ${known || 'none'}.`,
    );
  }

  /** The id of a slot in the pool. Throws `not_found`, and `conflict` for one that is not in the pool. */
  serving(id: string): string {
    const { status, problem } = this.find(id);
    if (status) return id;
    throw new GatewayError('conflict', `Slot "${id}" is disabled: ${problem}`);
  }

  create(entry: Entry, audit: AuditedAction): Promise<object> {
    return this.#changes.run(() => this.#create(entry, audit));
  }

  change(id: string, patch: Entry, audit: AuditedAction): Promise<object> {
    return this.#changes.run(() => this.#change(id, patch, audit));
  }

  remove(id: string, audit: AuditedAction): Promise<undefined> {
    return this.#changes.run(() => this.#remove(id, audit));
  }

  async #create(entry: Entry, audit: AuditedAction): Promise<object> {
    const { now } = this.#gateway.services;
    await this.#check(entry);
    const id = String(entry['id']); // it has been checked
    const slots = shownSlots(this.#gateway);
    const taken = slots.find((slot) => slot.id === id);
    if (taken) throw new GatewayError('conflict', `A slot "${id}" already exists${placeText(taken)}.`);
    if (slots.length >= maxSlots)
      throw new GatewayError('conflict', `There are already ${maxSlots} slots, the maximum for the console.`);
    const atMs = now();
    await this.#put({ ...settingsAndAccount(entry), id, createdAtMs: atMs, updatedAtMs: atMs }, undefined);
    const slot = this.find(id);
    audit.target = id;
    audit.change(undefined, shownSettings(slot));
    return this.report(slot);
  }

  async #change(id: string, patch: Entry, audit: AuditedAction): Promise<object> {
    const before = await this.#stored(id);
    if (Object.hasOwn(patch, 'id') && patch['id'] !== id)
      throw invalid(['id: cannot be changed; add a new slot and remove this one']);
    if (before.problem !== undefined)
      throw new GatewayError('conflict', `${before.problem} Or remove this slot and add it again.`);
    const old = { id, ...before.settings, account: before.account };
    const shown = shownSettings(this.find(id));
    const entry = patched(old, patch, shown);
    await this.#check(entry);
    guardSecretRedirect({ before: old, after: entry, patch, shown });
    await this.#put(
      { ...before, ...settingsAndAccount(entry), updatedAtMs: this.#gateway.services.now() },
      before,
    );
    const slot = this.find(id);
    const after = { raw: entry, shown: shownSettings(slot) };
    audit.change(shown, withChangedSecrets({ raw: old, shown }, after));
    return this.report(slot);
  }

  async #remove(id: string, audit: AuditedAction): Promise<undefined> {
    const { store } = this.#gateway.services;
    await this.#stored(id);
    audit.change(shownSettings(this.find(id)), undefined);
    await store.slots.delete(id);
    await store.credentials.delete(id); // a new slot with this id must not inherit them
    await this.#gateway.slotsChanged();
    return undefined;
  }

  async #check(entry: Entry): Promise<void> {
    if (Buffer.byteLength(JSON.stringify(entry)) > maxEntryBytes)
      throw invalid([`body: a slot has at most ${maxEntryBytes} bytes of settings`]);
    const { problems } = await readConsoleSlot(entry, this.#gateway.runtime.config);
    if (problems.length > 0) throw invalid(problems);
  }

  /** The stored slot of an id. Throws `not_found`, and `conflict` for a slot of the config file. */
  async #stored(id: string): Promise<StoredSlot> {
    const slot = this.find(id);
    if (slot.source === 'config')
      throw new GatewayError(
        'conflict',
        `Slot "${id}" is defined in the config file${placeText(slot)}; change it there.`,
      );
    const stored = await this.#gateway.services.store.slots.get(id);
    if (stored) return stored;
    await this.#gateway.slotsChanged(); // another instance has removed it
    throw new GatewayError('not_found', `The slot "${id}" no longer exists.`);
  }

  /**
   * Stores a slot and loads it into the pool; if it fails there, restores `before` and throws
   * `invalid_request`.
   */
  async #put(slot: StoredSlot, before: StoredSlot | undefined): Promise<void> {
    const { store } = this.#gateway.services;
    await store.slots.put(slot);
    await this.#gateway.slotsChanged();
    const { problem } = this.find(slot.id);
    if (problem === null) return;
    await (before ? store.slots.put(before) : store.slots.delete(slot.id));
    await this.#gateway.slotsChanged();
    throw invalid([problem]);
  }
}

const maxSlots = 1000;
const countEveryMs = 10_000;

function placeText({ place }: ShownSlot): string {
  return place === null ? '' : ` at ${place}`;
}

function settingsAndAccount(entry: Entry): Pick<StoredSlot, 'settings' | 'account'> {
  const { id: _, account, ...settings } = entry;
  return { settings, account: (account ?? { kind: 'none' }) as Entry }; // it has been checked
}

/** Applies a patch; a change of the upstream, or of the account's kind, drops all options of the old one. */
function patched(entry: Entry, patch: Entry, shown: Entry): Entry {
  const { account } = entry as { readonly account: Entry };
  const { account: change, upstream } = patch as {
    readonly account?: { readonly kind?: unknown } | null;
    readonly upstream?: unknown;
  };
  const hasOtherAccount = change?.kind !== undefined && change.kind !== account['kind'];
  const hasOtherUpstream = upstream !== undefined && upstream !== entry['upstream'];
  const { with: options, ...rest } = entry;
  const base = {
    ...rest,
    ...(options !== undefined && !hasOtherUpstream && { with: options }),
    ...(hasOtherAccount && { account: {} }),
  };
  return mergePatch(base, patch, shown);
}

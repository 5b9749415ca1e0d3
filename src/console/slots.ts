import { Type } from 'typebox';
import { diagnosisTimeoutMs } from '../admin/routes.js';
import { GatewayError, type DiagnosisStep, type StoredSlot } from '../plugin/index.js';
import { invalid } from './check.js';
import { mergePatch } from './merge-patch.js';
import type { Panel, PanelSlot } from './panel.js';
import { Remembered } from './remembered.js';
import { route, type PanelRoute } from './route.js';
import { ListOf } from './schemas.js';
import { PanelSlotReport, panelSlotReport, shownSettings } from './slot-report.js';

/** `/api/panel/slots`. */
export function slotRoutes(panel: Panel): readonly PanelRoute[] {
  const desk = new SlotDesk(panel);
  return [
    route({
      method: 'GET',
      path: '/slots',
      summary: 'All slots, those of the config file and those of the console.',
      answers: { 200: ListOf(PanelSlotReport, {}) },
      handle: async () => ({ object: 'list', data: await Promise.all(panel.slots.list().map(desk.report)) }),
    }),
    route({
      method: 'POST',
      path: '/slots',
      summary: 'Enters a slot, as it would stand under `slots:` in the config file.',
      body: AnyObject,
      bodySchema: panel.slots.entrySchema,
      answers: { 201: PanelSlotReport },
      handle: ({ body }) => desk.create(body),
    }),
    route({
      method: 'PATCH',
      path: '/slots/:id',
      summary:
        'Changes a slot of the console by a merge patch; what comes back blanked (`***`) stays as it is.',
      body: AnyObject,
      answers: { 200: PanelSlotReport },
      handle: ({ id, body }) => desk.change(id, body),
    }),
    route({
      method: 'DELETE',
      path: '/slots/:id',
      summary: 'Takes a slot of the console away; requests that are in it finish.',
      answers: { 204: null },
      handle: ({ id }) => desk.remove(id),
    }),
    ...operationRoutes(panel, desk),
  ];
}

/** What is in it is checked as the config's slots are. */
const AnyObject = Type.Unsafe<Entry>({ type: 'object' });

type Entry = Readonly<Record<string, unknown>>;

function operationRoutes({ operations }: Panel, desk: SlotDesk): readonly PanelRoute[] {
  const verbs = (['pause', 'resume', 'drain'] as const).map((verb) =>
    route({
      method: 'POST',
      path: `/slots/:id/${verb}`,
      summary: summaries[verb],
      answers: { 200: PanelSlotReport },
      handle({ id }) {
        operations[verb](desk.serving(id));
        return desk.report(desk.find(id));
      },
    }),
  );
  const diagnose = route({
    method: 'POST',
    path: '/slots/:id/diagnose',
    summary: "Resolves the upstream's name and calls it over the slot's own way out, in 10 s.",
    answers: { 200: Diagnosis },
    async handle({ id, ctx }) {
      const signal = AbortSignal.any([ctx.state.signal, AbortSignal.timeout(diagnosisTimeoutMs)]);
      const steps = await operations.diagnose(desk.serving(id), signal);
      return { slot: id, ok: steps.every(({ ok }) => ok), steps: steps.map(stepReport) };
    },
  });
  return [...verbs, diagnose];
}

const summaries = {
  pause: 'The slot takes no new requests until it is resumed; those it has go on.',
  resume: 'Ready again, whatever was the matter with it.',
  drain: 'As pause, said where the slot is to be taken away.',
};

const Diagnosis = Type.Object({
  slot: Type.String(),
  ok: Type.Boolean(),
  steps: Type.Array(
    Type.Object({ name: Type.String(), ok: Type.Boolean(), ms: Type.Number(), message: Type.String() }),
  ),
});

function stepReport({ step, ok, ms, detail }: DiagnosisStep): object {
  return { name: step, ok, ms, message: detail };
}

/** Enters, changes and removes the slots of the console. */
class SlotDesk {
  readonly #panel: Panel;
  readonly #sessions: Remembered<ReadonlyMap<string, number>>;

  constructor(panel: Panel) {
    const { store, now } = panel;
    this.#panel = panel;
    this.#sessions = new Remembered(() => store.bindings.countBySlot(), { ms: countEveryMs, now });
  }

  readonly report = async (slot: PanelSlot): Promise<object> =>
    panelSlotReport(slot, (await this.#sessions.get()).get(slot.id) ?? 0);

  /** Throws `not_found`. */
  find(id: string): PanelSlot {
    const all = this.#panel.slots.list();
    const slot = all.find((each) => each.id === id);
    if (slot) return slot;
    const known = all.map((each) => `"${each.id}"`).join(', ');
    throw new GatewayError(
      'not_found',
      `There is no slot ${JSON.stringify(id)}; there are ${known || 'none'}.`,
    );
  }

  /** The id of a slot that is in the pool. Throws `not_found`, and `conflict` for one that does not serve. */
  serving(id: string): string {
    const { status, problem } = this.find(id);
    if (status) return id;
    throw new GatewayError('conflict', `Slot "${id}" does not serve: ${problem}`);
  }

  async create(entry: Entry): Promise<object> {
    const { slots, now } = this.#panel;
    this.#check(entry);
    const id = String(entry['id']); // it has been checked
    const taken = slots.list().find((slot) => slot.id === id);
    if (taken) throw new GatewayError('conflict', `There is a slot "${id}" already${at(taken)}.`);
    if (slots.list().length >= mostSlots)
      throw new GatewayError(
        'conflict',
        `There are ${mostSlots} slots already, the most that the console takes.`,
      );
    const atMs = now();
    await this.#put({ ...split(entry), id, createdAtMs: atMs, updatedAtMs: atMs }, undefined);
    return this.report(this.find(id));
  }

  async change(id: string, patch: Entry): Promise<object> {
    const before = await this.#stored(id);
    if (Object.hasOwn(patch, 'id') && patch['id'] !== id)
      throw invalid(['id: cannot be changed; enter a new slot and remove this one']);
    if (before.problem !== undefined)
      throw new GatewayError('conflict', `${before.problem} Or remove this slot and enter it again.`);
    const entry = patched(
      { id, ...before.settings, account: before.account },
      patch,
      shownSettings(this.find(id)),
    );
    this.#check(entry);
    await this.#put({ ...before, ...split(entry), updatedAtMs: this.#panel.now() }, before);
    return this.report(this.find(id));
  }

  async remove(id: string): Promise<undefined> {
    const { store, slots } = this.#panel;
    await this.#stored(id);
    await store.slots.delete(id);
    await store.credentials.delete(id); // or a new slot of this id might come to them
    await slots.changed();
    return undefined;
  }

  #check(entry: Entry): void {
    const problems = this.#panel.slots.check(entry);
    if (problems.length > 0) throw invalid(problems);
  }

  /** Throws `not_found`, and `conflict` for a slot of the config file. */
  async #stored(id: string): Promise<StoredSlot> {
    const slot = this.find(id);
    if (slot.source === 'config')
      throw new GatewayError('conflict', `Slot "${id}" is the config file's${at(slot)}; change it there.`);
    const stored = await this.#panel.store.slots.get(id);
    if (stored) return stored;
    await this.#panel.slots.changed(); // another instance has removed it
    throw new GatewayError('not_found', `There is no slot "${id}" any more.`);
  }

  /** Stores a slot and has the pool take it; where that cannot be, all is as it was `before`. */
  async #put(slot: StoredSlot, before: StoredSlot | undefined): Promise<void> {
    const { store, slots } = this.#panel;
    await store.slots.put(slot);
    await slots.changed();
    const { problem } = this.find(slot.id);
    if (problem === null) return;
    await (before ? store.slots.put(before) : store.slots.delete(slot.id));
    await slots.changed();
    throw invalid([problem]);
  }
}

const mostSlots = 1000;
const countEveryMs = 10_000;

function at({ place }: PanelSlot): string {
  return place === null ? '' : ` at ${place}`;
}

function split(entry: Entry): Pick<StoredSlot, 'settings' | 'account'> {
  const { id: _, account, ...settings } = entry;
  return { settings, account: (account ?? { kind: 'none' }) as Entry }; // it has been checked
}

/** An account of another kind has nothing in common with the one before. */
function patched(entry: Entry, patch: Entry, shown: Entry): Entry {
  const { account } = entry as { readonly account: Entry };
  const { account: change } = patch as { readonly account?: { readonly kind?: unknown } | null };
  const isOther = change?.kind !== undefined && change.kind !== account['kind'];
  const base = isOther ? { ...entry, account: {} } : entry;
  return mergePatch(base, patch, shown);
}

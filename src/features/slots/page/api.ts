import type { Static } from 'typebox';
import { call, fetchList, pathOf } from '../../../console/web/api/call.js';
import type { DiagnosisReport, AdminSlotReport } from '../admin-report.js';
import type { SlotChangeReport } from '../history-report.js';
import type { SlotKindsReport } from '../kinds-route.js';
import type { ConsoleSlotReport } from '../console-report.js';

/** An entry under `slots:` in the config file, without its id. */
export interface SlotSettings {
  readonly upstream?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly baseUrl?: string;
  readonly account?: Account;
  readonly models?: string | readonly string[] | Readonly<Record<string, unknown>>;
  readonly maxConcurrent?: number;
  readonly weight?: number;
  readonly proxy?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeout?: string;
}

/** The readable part of an account; secrets can be written but not read. */
type Account = { readonly kind: string } & Readonly<Record<string, unknown>>;

/** A merge patch: null deletes a field, missing fields stay. */
export type SlotPatch = { readonly [Field in keyof SlotSettings]?: unknown };

export type Slot = Omit<Static<typeof ConsoleSlotReport>, 'settings'> & { readonly settings: SlotSettings };
export type SlotState = Slot['state'];
export type CoolReason = NonNullable<Slot['reason']>;
export type Window = NonNullable<Static<typeof AdminSlotReport>['windows']['5h']>;
export type SlotVerb = 'pause' | 'resume' | 'drain';

/** Kinds of upstreams and accounts with the fields of their forms. */
export type SlotKinds = Static<typeof SlotKindsReport>;
export type SlotKind = SlotKinds['upstreams'][number];
/** An option of a slot as a field of a form. */
export type SlotField = SlotKind['fields'][number];

/** Change of a slot's state. */
export type SlotChange = Static<typeof SlotChangeReport>;

type Diagnosis = Static<typeof DiagnosisReport>;
export type DiagnosisStep = Diagnosis['steps'][number];

export const fetchSlots = (signal?: AbortSignal) => fetchList<Slot>('/slots', signal);
export const fetchSlotKinds = (signal?: AbortSignal) => call<SlotKinds>('GET', '/slot-kinds', { signal });
export const addSlot = (entry: SlotSettings & { readonly id: string }) =>
  call<Slot>('POST', '/slots', { body: entry });
export const changeSlot = (id: string, patch: SlotPatch) =>
  call<Slot>('PATCH', pathOf('/slots', id), { body: patch });
export const deleteSlot = (id: string) => call<void>('DELETE', pathOf('/slots', id));
export const actOnSlot = (id: string, verb: SlotVerb) => call<Slot>('POST', pathOf('/slots', id, `/${verb}`));
export const fetchSlotHistory = (id: string, signal?: AbortSignal) =>
  fetchList<SlotChange>(pathOf('/slots', id, '/history'), signal, { limit: 200 });
export const diagnoseSlot = (id: string, signal?: AbortSignal) =>
  call<Diagnosis>('POST', pathOf('/slots', id, '/diagnose'), { signal });

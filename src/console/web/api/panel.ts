import { call, type Query } from './call.js';
import type {
  AdminToken,
  AdminTokens,
  AuditPage,
  IssuedAdminToken,
  NewAdminToken,
  CanaryStatus,
  Diagnosis,
  ExplainCall,
  Explanation,
  ChangedKey,
  IssuedKey,
  Key,
  KeySettings,
  List,
  LoginWays,
  Model,
  OpenedRequest,
  Pipeline,
  PluginPage,
  Reloaded,
  ReloadPreview,
  RequestPage,
  Session,
  SessionItem,
  Slot,
  SlotChange,
  SlotKinds,
  SlotPatch,
  SlotSettings,
  SlotVerb,
  Status,
  Team,
  TeamSettings,
  Usage,
} from './types.js';

type Signal = AbortSignal | undefined;

const at = (path: string, id: string, rest = '') => `${path}/${encodeURIComponent(id)}${rest}`;

/** Client of the panel API, one function per call. */
export const panel = {
  session: () => call<Session>('GET', '/session'),
  loginWays: (signal?: Signal) => call<LoginWays>('GET', '/login', { signal }),
  login: (password: string) => call<unknown>('POST', '/login', { body: { password } }),
  logout: () => call<{ readonly continue_to?: string } | undefined>('POST', '/logout'),
  sessions: async (signal?: Signal) => (await call<List<SessionItem>>('GET', '/sessions', { signal })).data,
  endSession: (id: string) => call<void>('DELETE', at('/sessions', id)),
  endOtherSessions: () => call<{ readonly ended: number }>('DELETE', '/sessions'),
  status: (signal?: Signal) => call<Status>('GET', '/status', { signal }),

  keys: async (signal?: Signal) => (await call<List<Key>>('GET', '/keys', { signal })).data,
  issueKey: (settings: Partial<KeySettings>) => call<IssuedKey>('POST', '/keys', { body: settings }),
  changeKey: (id: string, patch: Partial<KeySettings> & { readonly revoked_at?: null }) =>
    call<ChangedKey>('PATCH', at('/keys', id), { body: patch }),
  /** `grace`: time for which the secrets before go on working, `24h`. */
  rotateKey: (id: string, grace: string) =>
    call<IssuedKey>('POST', `${at('/keys', id)}/rotate`, { body: { grace } }),
  revokeKey: (id: string) => call<Key>('DELETE', at('/keys', id)),
  deleteKey: (id: string) => call<void>('DELETE', at('/keys', id), { query: { purge: true } }),

  teams: async (signal?: Signal) => (await call<List<Team>>('GET', '/teams', { signal })).data,
  makeTeam: (settings: Partial<TeamSettings>) => call<Team>('POST', '/teams', { body: settings }),
  changeTeam: (id: string, patch: Partial<TeamSettings>) =>
    call<Team>('PATCH', at('/teams', id), { body: patch }),
  deleteTeam: (id: string) => call<void>('DELETE', at('/teams', id)),

  slots: async (signal?: Signal) => (await call<List<Slot>>('GET', '/slots', { signal })).data,
  slotKinds: (signal?: Signal) => call<SlotKinds>('GET', '/slot-kinds', { signal }),
  addSlot: (entry: SlotSettings & { readonly id: string }) => call<Slot>('POST', '/slots', { body: entry }),
  changeSlot: (id: string, patch: SlotPatch) => call<Slot>('PATCH', at('/slots', id), { body: patch }),
  deleteSlot: (id: string) => call<void>('DELETE', at('/slots', id)),
  actOnSlot: (id: string, verb: SlotVerb) => call<Slot>('POST', at('/slots', id, `/${verb}`)),
  slotHistory: async (id: string, signal?: Signal) =>
    (await call<List<SlotChange>>('GET', at('/slots', id, '/history'), { query: { limit: 200 }, signal }))
      .data,
  diagnose: (id: string, signal?: Signal) =>
    call<Diagnosis>('POST', at('/slots', id, '/diagnose'), { signal }),

  usage: (query: Query, signal?: Signal) => call<Usage>('GET', '/usage', { query, signal }),
  requests: (query: Query, signal?: Signal) => call<RequestPage>('GET', '/requests', { query, signal }),
  request: (id: string, signal?: Signal) => call<OpenedRequest>('GET', at('/requests', id), { signal }),
  pipeline: (signal?: Signal) => call<Pipeline>('GET', '/pipeline', { signal }),
  previewReload: (signal?: Signal) => call<ReloadPreview>('GET', '/reload', { signal }),
  reload: () => call<Reloaded>('POST', '/reload'),
  canary: async (signal?: Signal) => (await call<CanaryStatus>('GET', '/canary', { signal })).canary,
  startCanary: (percent: number) => call<void>('POST', '/canary', { body: { percent } }),
  commitCanary: () => call<Reloaded>('POST', '/canary/commit'),
  cancelCanary: () => call<CanaryStatus>('POST', '/canary/cancel'),
  explain: (request: ExplainCall) => call<Explanation>('POST', '/explain', { body: request }),
  audit: (query: Query, signal?: Signal) => call<AuditPage>('GET', '/audit', { query, signal }),
  adminTokens: (signal?: Signal) => call<AdminTokens>('GET', '/admin-tokens', { signal }),
  issueAdminToken: (settings: NewAdminToken) =>
    call<IssuedAdminToken>('POST', '/admin-tokens', { body: settings }),
  revokeAdminToken: (id: string) => call<AdminToken>('DELETE', at('/admin-tokens', id)),
  deleteAdminToken: (id: string) => call<void>('DELETE', at('/admin-tokens', id), { query: { purge: true } }),
  pages: async (signal?: Signal) => (await call<List<PluginPage>>('GET', '/pages', { signal })).data,
  models: async (signal?: Signal) => (await call<List<Model>>('GET', '/models', { signal })).data,
};

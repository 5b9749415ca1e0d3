import type { Static } from 'typebox';
import type { CanaryStatus as CanaryStatusReport } from '../../../features/canary/canary-report.js';
import type { DiagnosisReport, SlotReport } from '../../../features/slots/report.js';
import type { ReloadReport } from '../../../features/pipeline/reload-report.js';
import type {
  AdminScopeReport,
  AdminTokenReport,
  IssuedAdminToken as IssuedAdminTokenReport,
} from '../../../features/tokens/panel.js';
import type { AuditReport } from '../../../features/audit/audit-report.js';
import type {
  ChangedKeyReport,
  IssuedKey as IssuedKeyReport,
  ListedKey,
} from '../../../features/keys/key-report.js';
import type { ModelReport, PageReport, StatusReport } from '../../../operator/status.js';
import type { StageReport } from '../../../features/pipeline/panel.js';
import type { AnswerHead, Progress } from '../../../features/playground/playground-run.js';
import type { PreviewReport } from '../../../features/pipeline/reload-panel.js';
import type { RequestDetail, RequestReport, Tokens as TokensReport } from '../../../operator/schemas.js';
import type { Explanation as ExplanationReport } from '../../../features/explain/explanation.js';
import type { LoginWays as LoginWaysReport } from '../../../features/login/oidc-routes.js';
import type { SessionItem as SessionItemReport } from '../../../features/login/session-list.js';
import type { SessionReport } from '../../../features/login/session-routes.js';
import type { SlotChangeReport } from '../../../features/slots/slot-history-report.js';
import type { SlotKindsReport } from '../../../features/slots/slot-kinds.js';
import type { PanelSlotReport } from '../../../features/slots/slot-report.js';
import type { TeamReport } from '../../../features/keys/team-report.js';
import type { UsageReport } from '../../../features/usage/panel.js';

/** Types of the panel API, from the schemas of its answers. */

/** A list of the panel API, without the fields of paged lists. */
export interface List<Item> {
  readonly data: readonly Item[];
}

/** The ways to sign in. */
export type LoginWays = Static<typeof LoginWaysReport>;
export type Session = Static<typeof SessionReport>;
/** A session in the list of all. */
export type SessionItem = Static<typeof SessionItemReport>;
export type Status = Static<typeof StatusReport>;

export type Key = Omit<Static<typeof ListedKey>, 'stored_responses'>;
/** A new key with its secret text, sent only once. */
export type IssuedKey = Static<typeof IssuedKeyReport>;
export type ChangedKey = Static<typeof ChangedKeyReport>;
/** Settings of a protocol key; null: not set. */
export type KeySettings = Omit<
  Key,
  'id' | 'last4' | 'created_at' | 'last_used_at' | 'revoked_at' | 'former_secrets'
>;

/** Limits and budgets of a key or team; null: not set. */
export type Limits = Pick<
  Team,
  | 'requests_per_minute'
  | 'tokens_per_minute'
  | 'tokens_per_day'
  | 'tokens_per_month'
  | 'usd_per_day'
  | 'usd_per_month'
  | 'max_concurrent'
>;

/** Loss of cached tokens. */
export type CacheLoss = NonNullable<LedgerRequest['cache']>;

export type Team = Static<typeof TeamReport>;
export type TeamSettings = Omit<Team, 'id' | 'created_at' | 'keys' | 'used'>;

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

export type Slot = Omit<Static<typeof PanelSlotReport>, 'settings'> & { readonly settings: SlotSettings };

/** Kinds of upstreams and accounts with the fields of their forms. */
export type SlotKinds = Static<typeof SlotKindsReport>;
export type SlotKind = SlotKinds['upstreams'][number];
/** An option of a slot as a field of a form. */
export type SlotField = SlotKind['fields'][number];

/** Change of a slot's state. */
export type SlotChange = Static<typeof SlotChangeReport>;

export type SlotState = Slot['state'];
export type CoolReason = NonNullable<Slot['reason']>;
export type Window = NonNullable<Static<typeof SlotReport>['windows']['5h']>;
export type SlotVerb = 'pause' | 'resume' | 'drain';

export type Diagnosis = Static<typeof DiagnosisReport>;
export type DiagnosisStep = Diagnosis['steps'][number];

export type Stage = Static<typeof StageReport>;
export interface Pipeline extends List<Stage> {
  readonly file: string | null;
}

/** An option of a stage. */
export type Field = Stage['fields'][number];

export type ReloadPreview = Static<typeof PreviewReport>;
export type ConfigChanges = ReloadPreview['changes'];
export type EntryChange = ConfigChanges['stages'][number];
export type SettingChange = ConfigChanges['settings'][number];
export type Reloaded = Static<typeof ReloadReport>;
export type CanaryStatus = Static<typeof CanaryStatusReport>;
export type Canary = NonNullable<CanaryStatus['canary']>;
export type CanarySide = Canary['candidate'];

export type Explanation = ExplanationReport;
/** A request to explain; null: without a key. */
export interface ExplainCall {
  readonly post: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly as: string | null;
}

export type PlaygroundProgress = Progress;
export type PlaygroundHead = AnswerHead;

/** A page that a plugin brings. */
export type PluginPage = Static<typeof PageReport>;

export type Model = Static<typeof ModelReport>;

export type Tokens = Static<typeof TokensReport>;
export type Usage = Omit<Static<typeof UsageReport>, 'object'>;
export type UsageBucket = Usage['data'][number];
export type UsageGroup = NonNullable<Usage['by']>;

export type LedgerRequest = Static<typeof RequestReport>;
export type OpenedRequest = Static<typeof RequestDetail>;
/** Error text of a failed request. */
export type ErrorText = NonNullable<OpenedRequest['error_text']>;
export interface RequestPage extends List<LedgerRequest> {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export type AuditEntry = Static<typeof AuditReport>;
export interface AuditPage extends List<AuditEntry> {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export type AdminToken = Static<typeof AdminTokenReport>;
export type AdminScope = Static<typeof AdminScopeReport>;
/** A new admin token with its secret text, sent only once. */
export type IssuedAdminToken = Static<typeof IssuedAdminTokenReport>;
export interface AdminTokens extends List<AdminToken> {
  readonly scopes: readonly AdminScope[];
}
export interface NewAdminToken {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

import {
  accountForm,
  defined,
  formatForm,
  stageForm,
  upstreamForm,
  type AccountKind,
  type UpstreamKind,
} from '../plugin/core.js';
import type { Format, Plugin } from '../plugin/index.js';

/** A stage as a module exports it: from `definePlugin`, or a plain object, which the loader takes too. */
export type StageLike = Pick<Plugin, 'name' | 'setup'> & Partial<Plugin>;
/** A kind of account from `defineAccount`, or a plain object. */
export type AccountLike = Pick<AccountKind, 'name' | 'open'> & Partial<AccountKind>;
/** A kind of upstream from `defineUpstream`, or a plain object. */
export type UpstreamLike = Pick<UpstreamKind, 'name' | 'open'> & Partial<UpstreamKind>;
/** A format from `defineFormat`, or a plain object. */
export type FormatLike = Parameters<typeof formatForm.normalize>[0];

/** The stage with the defaults of its definition. Throws a TypeError for an unknown field. */
export function toStage(given: StageLike): Plugin {
  if (given.isPlain) return given as Plugin; // middleware that the loader has read
  return defined(stageForm, given);
}

/** The account with the defaults of its definition. Throws a TypeError for an unknown field. */
export function toAccount(given: AccountLike): AccountKind {
  return defined(accountForm, given);
}

/** The upstream with the defaults of its definition. Throws a TypeError for an unknown field. */
export function toUpstream(given: UpstreamLike): UpstreamKind {
  return defined(upstreamForm, given);
}

/** The format with the defaults of its definition. Throws a TypeError for an unknown field. */
export function toFormat(given: FormatLike): Format {
  return defined(formatForm, given);
}

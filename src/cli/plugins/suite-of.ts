import path from 'node:path';
import type { KindName } from '../../engine/pipeline/load/listed-plugins.js';
import { coreKeys, type AccountKind, type UpstreamKind } from '../../plugin/core.js';
import type { Format, Plugin } from '../../plugin/index.js';
import {
  accountChecks,
  accountHost,
  checkFormat,
  fakeHost,
  stageChecks,
  upstreamChecks,
  type AccountSubject,
  type FormatCheck,
  type StageSubject,
  type UpstreamSubject,
} from '../../testing/index.js';

/** One rule of a suite; `run` rejects if it is broken. */
export interface Check {
  readonly name: string;
  readonly run: () => Promise<void>;
}

interface Surroundings {
  /** Module of the plugin, whose export `conformance` has further parts of the subject of its suite. */
  readonly module: object;
  /** Folder in which paths in options start. */
  readonly baseDir: string;
}

interface Loaded {
  readonly plugin: unknown;
  /** Defaults filled in. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The conformance suite of a plugin with these options, or the reason why it cannot be run. */
export async function suiteOf(
  kind: KindName,
  { plugin, options }: Loaded,
  { module, baseDir }: Surroundings,
): Promise<readonly Check[] | string> {
  const given = 'conformance' in module ? Object(module.conformance) : undefined;
  // The loader has checked the plugin by its kind; what its author gives is held to by the suite itself.
  if (kind === 'stage') return stageSuite(plugin as Plugin, options, given as Partial<StageSubject>, baseDir);
  if (kind === 'account')
    return accountSuite(plugin as AccountKind, options, given as Partial<AccountSubject>);
  if (given === undefined) return missingPart[kind];
  if (kind === 'upstream')
    return upstreamChecks({ options, ...(given as UpstreamSubject), kind: plugin as UpstreamKind });
  const check = { context: { options }, ...(given as FormatCheck) };
  return [{ name: 'keeps the rules of formats', run: () => checkFormat(plugin as Format, check) }];
}

const missingPart = {
  upstream: 'its suite needs a service to call; export `conformance` with `play`, or run it in its own tests',
  format:
    'its suite needs a request body; export `conformance` with `body`, `fold` and `errorIn`, or run it in its own tests',
} as const;

function stageSuite(
  plugin: Plugin,
  options: StageSubject['options'] & object,
  given: Partial<StageSubject> | undefined,
  baseDir: string,
): readonly Check[] | string {
  const known = new Set<string>([...coreKeys, ...givenKeys]);
  const missing = plugin.requires.filter((key) => !known.has(key));
  if (missing.length > 0 && !given?.state)
    return `it requires ${missing.join(', ')} of other stages; export \`conformance\` with \`state\``;
  const host = () => fakeHost({ dry: true, resolvePath: (file) => path.resolve(baseDir, file) });
  return stageChecks({ plugin, options, host, ...given });
}

/** Keys of the state that the suite of stages gives. */
const givenKeys = ['caller', 'body', 'request', 'delivery', 'picker', 'reply'];

/** An account that can refresh is not asked to: it would spend a token of the config. */
async function accountSuite(
  kind: AccountKind,
  options: object,
  given: Partial<AccountSubject> | undefined,
): Promise<readonly Check[] | string> {
  if (given?.options !== undefined) return accountChecks({ kind, ...given });
  const account = await kind.open(options, accountHost());
  await account.close?.();
  if (!account.refresh) return accountChecks({ kind, options, ...given });
  return 'it refreshes its proof at a service; export `conformance` with `options` that start one for a test';
}

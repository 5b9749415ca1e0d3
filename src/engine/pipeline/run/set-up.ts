import type Koa from 'koa';
import type { ConfigProblem } from '../../../config/config.js';
import { LateError, within } from '../../../kit/time/within.js';
import { pluginPlace } from '../../trace/plugin-place.js';
import { stageParts, type ReadyParts } from '../stage/stage-parts.js';
import { strictParts } from '../stage/strict-stage.js';
import type { Interceptor, StagePlace } from '../../../plugin/core.js';
import type { Host } from '../../../plugin/index.js';
import type { IsolationServices } from '../../isolation/supervisor.js';
import { limitedIntercept, viewOf } from './limited-intercept.js';
import { limited, type StageLimits } from './limited.js';
import type { LoadedStage } from '../load/load-stages.js';
import { stageHost, type HostServices, type Registrations } from './stage-host.js';
import type { Stage } from './traced.js';
import { unmetConditions, whenMatcher } from '../order/when.js';

/** A stage that has been set up. */
export interface ReadyStage extends LoadedStage {
  readonly parts: ReadyParts;
  /** Undefined if requests do not pass it. */
  readonly stage: Stage | undefined;
  /** Wraps the calls of the requests that pass the stage around all interceptors. */
  readonly outermost: Interceptor | undefined;
}

/**
 * Sets up the stages in order, so that each finds the registrations of those above. Stops at a timeout, since the
 * stages below would time out, too.
 */
export async function setUpAll(
  stages: readonly LoadedStage[],
  services: HostServices,
  registrations: Registrations,
  timeoutMs: number,
): Promise<{ ready: readonly ReadyStage[]; problems: readonly ConfigProblem[] }> {
  const ready: ReadyStage[] = [];
  const problems: ConfigProblem[] = [];
  for (const stage of stages) {
    const { ready: made, problem, isLate } = await setUp(stage, services, registrations, timeoutMs);
    if (made) ready.push(made);
    else problems.push(problem);
    if (isLate) break;
  }
  return { ready, problems };
}

type SetUp =
  | { readonly ready: ReadyStage; readonly problem?: never; readonly isLate?: never }
  | { readonly ready?: never; readonly problem: ConfigProblem; readonly isLate: boolean };

async function setUp(
  stage: LoadedStage,
  services: HostServices,
  registrations: Registrations,
  timeoutMs: number,
): Promise<SetUp> {
  const { plugin, options } = stage;
  const host = stageHost(services, stage, registrations);
  const late = `was not set up within ${timeoutMs / 1000} s: its setup waits for something that never happens`;
  try {
    const made = (async () =>
      stage.isolated
        ? stage.isolated.setUp(options, host, plugin, isolationServices(services, registrations, host))
        : plugin.setup(options, host))();
    return { ready: readyStage(stage, await within(made, timeoutMs, late), services, registrations) };
  } catch (error) {
    if (error instanceof LateError) return { problem: problemOf(stage, error.message), isLate: true };
    return { problem: problemOf(stage, `cannot be set up: ${faultOf(error)}`), isLate: false };
  }
}

function isolationServices(
  { metrics }: HostServices,
  { notices }: Registrations,
  { log }: Host,
): IsolationServices {
  const restarts = metrics.counter(
    'gw2api_isolated_restarts_total',
    'Ends of processes of isolated stages, after which another one is started.',
    ['stage', 'reason'],
  );
  return { restarts, notices, log };
}

/** Message of a plugin's error, with its position in the file for a TypeError or ReferenceError. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isSlip = error instanceof TypeError || error instanceof ReferenceError;
  const place = isSlip ? pluginPlace(error) : undefined;
  return place === undefined ? error.message : `${error.message} (${place})`;
}

function readyStage(
  stage: LoadedStage,
  made: unknown,
  { models, stageMetrics, clock }: HostServices,
  { disposers, providers, watch }: Registrations,
): ReadyStage {
  const { config, plugin } = stage;
  const parts = checkedParts(stageParts(made, plugin), stage, providers);
  const { middleware, intercept, outermost, applies, dispose } = parts;
  if (dispose) disposers.add(dispose, stage);
  const { when, group } = config;
  const place = placeOf(stage, stageMetrics);
  if (providers) for (const key of plugin.provides) providers.set(key, place);
  const takes = whenMatcher(when, models);
  const unmet = watch && unmetConditions(when, models);
  const onSkip = watch && ((state: object, error: unknown) => watch.skipped(state, place, error));
  const limits = limitsOf(stage, clock, onSkip);
  const interceptor = intercept && {
    place,
    intercept: limits ? limitedIntercept(intercept, place, limits) : intercept,
    applies:
      limits && applies ? (ctx: Parameters<typeof applies>[0]) => applies(viewOf(ctx, limits)) : applies,
  };
  const within = middleware && limits ? limited(middleware, place, limits) : middleware;
  const { conceals } = plugin;
  const passed = within ?? ((interceptor ?? group) && passOn); // an alternative takes its requests whatever it does with them
  return {
    ...stage,
    parts,
    outermost: outermost && { place, intercept: outermost, applies: takes },
    stage: passed && { place, middleware: passed, interceptor, takes, unmet, conceals, group },
  };
}

/** Parts of a stage; its use of the state is checked if the pipeline has that enabled. */
function checkedParts(
  parts: ReadyParts,
  { plugin }: LoadedStage,
  providers: Registrations['providers'],
): ReadyParts {
  if (!providers || plugin.isPlain) return parts;
  const { requires, reads = [], provides } = plugin;
  return strictParts(parts, { requires, reads, provides, providers: new Map(providers) });
}

function limitsOf(
  { config: { timeoutMs, skipsErrors }, plugin }: LoadedStage,
  clock: HostServices['clock'],
  onSkip: StageLimits['onSkip'],
): StageLimits | undefined {
  if (timeoutMs === undefined && !skipsErrors) return undefined;
  const skips = skipsErrors ? plugin.provides : undefined;
  return { timeoutMs, clock, skips, onSkip, views: new WeakMap() };
}

/** Place of a stage, as traces and log lines show it. */
export function placeOf(
  { plugin: { name }, config: { path, at } }: LoadedStage,
  stageMetrics: HostServices['stageMetrics'],
): StagePlace {
  return { stage: name, path, at: `${at.file}:${at.line}:${at.column}`, meter: stageMetrics.of(name) };
}

const passOn: Koa.Middleware = (_, next) => next();

/** ConfigProblem of a stage as a whole; `message` continues its name. */
export function problemOf(
  { config: { at, path }, plugin: { name } }: LoadedStage,
  message: string,
): ConfigProblem {
  return { at, path, subject: name, message };
}

import type { Static, TSchema } from 'typebox';
import { defined, type DefinitionForm, type ApiLevel } from './definition.js';
import type { Host } from './host.js';
import { closeObjects } from '../../kit/schema/type.js';
import type { Intercept, StageContext, StateKey, Operation } from './state.js';

/** An ordinary Koa middleware over a typed `ctx.state`. */
export type StageMiddleware<
  Requires extends StateKey,
  Provides extends StateKey,
  Reads extends StateKey = never,
> = (ctx: StageContext<Requires, Provides, Reads>, next: () => Promise<void>) => Promise<void>;

/** Parts of a stage beyond a middleware; each is optional, and may return a promise. */
export interface StageParts<
  Requires extends StateKey = StateKey,
  Provides extends StateKey = StateKey,
  Reads extends StateKey = never,
> {
  readonly middleware?: StageMiddleware<Requires, Provides, Reads>;
  /** Wraps the call of the model; with `intercepts: true` in the definition, and only then. */
  readonly intercept?: Intercept<StageContext<Requires, Provides, Reads>>;
  /**
   * Wraps the call of the model around the interceptors of all stages, independent of its own place: for a stage below
   * upstream-call that has to act before the reply. Not limited by `timeout` and `onError`.
   */
  readonly outermost?: Intercept<StageContext<Requires, Provides, Reads>>;
  /** False for a request whose call `intercept` leaves unchanged, asked as the call is made; absent: it wraps all. */
  applies?(ctx: StageContext<Requires, Provides, Reads>): boolean;
  /**
   * Opens connections, files and timers: called once the whole pipeline is set up, before its first request.
   * Its error is a problem of the config; `check` does not call it.
   */
  start?(): void | Promise<void>;
  /** Checks the dependencies of the stage, for `check --online`; throws if it cannot do its work. */
  probe?(): void | Promise<void>;
  /**
   * Closes the open resources of the stage; called after the last response, also if `start` was not called or failed.
   */
  dispose?(): void | Promise<void>;
}

export interface PluginDefinition<
  Requires extends StateKey = StateKey,
  Provides extends StateKey = StateKey,
  Options extends TSchema = TSchema,
  Reads extends StateKey = StateKey,
> {
  /** The file's name and the name in the config. */
  readonly name: string;
  /** Keys that a stage above must have provided. */
  readonly requires?: readonly Requires[];
  /** Keys that it reads if a stage above has provided them; undefined otherwise. */
  readonly reads?: readonly Reads[];
  /** Keys that this stage sets or replaces. */
  readonly provides?: readonly Provides[];
  /** Keys that no stage below may replace, because this one has used them. */
  readonly seals?: readonly StateKey[];
  /** True if the stage wraps the call of the model: `setup` returns `intercept`. It stands above upstream-call. */
  readonly intercepts?: true;
  /** True: explanations hide the texts that the stage replaces in a request, which is its purpose. */
  readonly conceals?: true;
  /**
   * False: the stage's result for an extended request may not begin with that for the original one, so that a prompt
   * cache of the upstream is lost; `check` reports it. May depend on the options.
   */
  readonly keepsPrefix?: false | ((options: Static<Options>) => boolean);
  /** Operations that pass this stage; default `['generate']`. */
  readonly operations?: readonly Operation[];
  /** JSON Schema of `with:`; defaults are filled in, unknown options are refused. */
  readonly options?: Options;
  /** Level of the plugin API that it was written for; another one than the gateway's is refused. */
  readonly api?: ApiLevel;
  /**
   * Called once for each pipeline, also by `check`: opens nothing, `start` does. An error thrown here is a
   * problem of the config.
   */
  setup(
    options: Static<Options>,
    host: Host,
  ): SetUpStage<Requires, Provides, Reads> | Promise<SetUpStage<Requires, Provides, Reads>>;
}

type SetUpStage<Requires extends StateKey, Provides extends StateKey, Reads extends StateKey> =
  | StageMiddleware<Requires, Provides, Reads>
  | StageParts<Requires, Provides, Reads>;

/** Plugin without its type parameters, as the pipeline uses it. */
export interface Plugin {
  readonly name: string;
  readonly requires: readonly StateKey[];
  readonly reads?: readonly StateKey[];
  readonly provides: readonly StateKey[];
  readonly seals: readonly StateKey[];
  readonly intercepts: boolean;
  readonly conceals?: true;
  readonly keepsPrefix?: false | ((options: object) => boolean);
  readonly operations: readonly Operation[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly api?: ApiLevel;
  /** A Koa middleware without a definition, which may use any keys. */
  readonly isPlain?: true;
  /** Returns a middleware or parts; `stageParts` checks which. */
  setup(options: unknown, host: Host): unknown;
}

/** Defines a stage. Every object schema in `options` is closed unless it says otherwise. */
export function definePlugin<
  const Requires extends StateKey = never,
  const Provides extends StateKey = never,
  const Options extends TSchema = TSchema,
  const Reads extends StateKey = never,
>(definition: PluginDefinition<Requires, Provides, Options, Reads>): Plugin {
  return defined(stageForm, definition);
}

/** Form of the definition of a stage. */
export const stageForm: DefinitionForm<object & { name: string; setup: unknown }, Plugin> = {
  kind: 'stage',
  fields: {
    name: true,
    requires: true,
    reads: true,
    provides: true,
    seals: true,
    intercepts: true,
    conceals: true,
    keepsPrefix: true,
    operations: true,
    options: true,
    api: true,
    setup: true,
  } as const satisfies Record<keyof PluginDefinition, true>,
  normalize(definition) {
    const given = definition as Partial<Plugin> & Pick<Plugin, 'name' | 'setup'>; // its parts are checked by the loader
    return {
      name: given.name,
      requires: given.requires ?? [],
      ...(given.reads && { reads: given.reads }),
      provides: providedBy(given),
      seals: given.seals ?? [],
      intercepts: given.intercepts ?? false,
      operations: given.operations ?? ['generate'],
      options: closeObjects(given.options ?? { type: 'object', properties: {} }) as Plugin['options'], // the copy of an object is an object
      ...(given.conceals && { conceals: true as const }),
      ...(given.keepsPrefix !== undefined && { keepsPrefix: given.keepsPrefix }),
      ...(given.api && { api: given.api }),
      setup: (options, host) => given.setup(options, host),
    };
  },
};

/** Keys that a definition provides; a normalized one has `interceptors` already. */
function providedBy({ provides = [], intercepts }: Partial<Plugin>): Plugin['provides'] {
  return intercepts && !provides.includes('interceptors') ? [...provides, 'interceptors'] : provides;
}

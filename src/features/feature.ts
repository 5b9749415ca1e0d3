import type { Environment } from '../config/environment.js';
import type { Config, ConfigProblem } from '../config/config.js';
import type { CoreMiddleware } from '../engine/http/exchange.js';
import type { Extension, Gateway, OpenGateway } from '../gateway/gateway.js';
import type { TestVerdict } from '../gateway/options.js';
import type { Route } from '../operator/route.js';
import type { CredentialCipher } from '../state/store/credential-cipher.js';
import type { Resealed } from '../state/store/maintenance.js';
import type { RouteSource } from '../operator/route-source.js';

/** Part of the gateway that can be left out. Its modules are imported when they are needed. */
export interface Feature extends RouteSource, Partial<Pick<Extension, 'starts' | 'open'>> {
  readonly name: string;
  /** Serves its own paths, below the routes of operators, which `routes` loads. */
  readonly middleware?: (gateway: Gateway, routes: () => Promise<readonly Route[]>) => CoreMiddleware;
  /** Commands that the feature adds to the command line. */
  readonly verbs?: Verbs;
  /** Runner of the tests that configs have; at most one feature brings it. */
  readonly configTests?: ConfigTests;
  /** Re-encrypts its files outside the store, for `rotate-secret`. */
  readonly reseal?: (config: Config, cipher: CredentialCipher) => Promise<readonly ResealedPart[]>;
}

/** Runs and checks the tests of a config, under its `tests:` and in the `*.test.yaml` files beside it. */
export interface ConfigTests {
  /** Runs the tests of a config file; aborting the signal stops them. */
  run(file: string, env: Environment, signal?: AbortSignal): Promise<TestVerdict>;
  /** Problems of the tests in a config; of unknown pipelines in them only with those of the config. */
  problemsOf(text: string, file: string, pipelines?: Config['pipelines']): Promise<readonly ConfigProblem[]>;
  /** Definitions of the JSON Schema of a config; `test` is that of a test. */
  definitions(): Promise<Readonly<Record<string, unknown>>>;
}

/** Items of one kind, and the result of re-encrypting them. */
export interface ResealedPart extends Resealed {
  readonly what: string;
}

/** Commands by the word that selects one, such as `explain`. */
export type Verbs = Readonly<Record<string, Verb>>;

/** Command of the CLI; `Values`: its options. */
export interface Verb<Values extends object = Readonly<Record<string, OptionValue>>> {
  /** Lines about it in the usage of the program. */
  readonly usage: string;
  /** Command after which the usage lists it; absent: in the order of the list. */
  readonly after?: string;
  readonly options: { readonly [Name in keyof Values]-?: OptionKind<Values[Name]> };
  /** Max number of words after it. */
  readonly words: number;
  /** True for a run of a second or two, in which optimized code costs more than it saves. */
  readonly isShort?: true;
  /** Imports its dependencies. */
  run(call: VerbCall<Values>): Promise<VerbResult>;
}

type OptionValue = boolean | string | readonly string[];

/** Kind of an option: a flag, a text, or any number of texts. */
export type OptionKind<Value = OptionValue> = Value extends boolean
  ? 'flag'
  : Value extends string
    ? 'text'
    : Value extends readonly string[]
      ? 'texts'
      : never;

/** Command as it was given. */
export interface VerbCall<Values extends object> {
  readonly values: Values;
  readonly words: readonly string[];
  readonly env: Environment;
  /** True for a terminal that may have colours. */
  readonly isColoured: boolean;
  /** Config file to use, `--config` or the default one, once `.env` has been read. */
  readonly configFile: (given: string | undefined) => Promise<string>;
  /** Opens a gateway with all features, which it imports. */
  readonly openGateway: OpenGateway;
}

/** Output of a command. */
export interface VerbResult {
  readonly text: string;
  readonly exitCode: 0 | 1 | 2;
  /** Line on stderr, apart from the text, which programs may read. */
  readonly note?: string;
}

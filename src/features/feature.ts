import type { Environment } from '../config/environment.js';
import type { Extension, OpenGateway } from '../gateway/gateway.js';
import type { RouteSource } from '../operator/route-source.js';

/** Part of the gateway that can be left out. Its modules are imported when they are needed. */
export interface Feature extends RouteSource, Partial<Pick<Extension, 'starts' | 'open'>> {
  readonly name: string;
  /** Commands of the command line, by their word. */
  readonly verbs?: Verbs;
}

/** Commands of the command line, by their word. */
export type Verbs = Readonly<Record<string, Verb>>;

/** Command of the command line; `Values`: its options. */
export interface Verb<Values extends object = Readonly<Record<string, OptionValue>>> {
  /** Lines about it in the usage of the program. */
  readonly usage: string;
  /** Verb after which the usage has it; absent: in the order of the list. */
  readonly after?: string;
  readonly options: { readonly [Name in keyof Values]-?: OptionKind<Values[Name]> };
  /** Max number of words that may follow it. */
  readonly words: number;
  /** True for a run of a second or two, in which optimized code costs more than it saves. */
  readonly isShort?: true;
  /** Imports what it needs. */
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
  /** Line on stderr, beside the text, which programs may read. */
  readonly note?: string;
}

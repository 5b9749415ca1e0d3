/** Answer of the scripted upstream. The first part of a path names it: `/words-64/v1/messages`. */
export interface Script {
  readonly deltas: number;
  /** The text of one delta. */
  readonly delta: (at: number) => string;
  /** One JSON body instead of a stream. */
  readonly isWhole?: boolean;
  /** Each delta at its own time and with the time as its text; else all of them at once. */
  readonly everyMs?: number;
  /** Those of all callers at the same times; else each caller has a phase of its own. */
  readonly isInStep?: boolean;
  /** So many megabytes of pings come before the first delta, as fast as they are taken. */
  readonly pingsMb?: number;
  /** Tokens that its usage says were read from the cache. Default: none. */
  readonly cachedTokens?: number;
  /** Nothing comes after the deltas, not even an end. */
  readonly isEndless?: boolean;
}

export const scripts = {
  'words-1': { deltas: 1, delta: words },
  'words-16': { deltas: 16, delta: words },
  'words-50': { deltas: 50, delta: words },
  'words-64': { deltas: 64, delta: words },
  'words-512': { deltas: 512, delta: words },
  'whole-50': { deltas: 50, delta: words, isWhole: true },
  'bulk-2mb': { deltas: 512, delta: () => 'four kilobytes. '.repeat(256) },
  'pings-600mb': { deltas: 16, delta: words, pingsMb: 600 },
  'cached-1': { deltas: 1, delta: words, cachedTokens: 200 },
  'cached-16': { deltas: 16, delta: words, cachedTokens: 36_000 },
  'waits-1': { deltas: 1, delta: words, isEndless: true },
  'ticks-250': { deltas: 250, delta: stamp, everyMs: 20 },
  'steps-250': { deltas: 250, delta: stamp, everyMs: 20, isInStep: true },
} as const satisfies Record<string, Script>;

export type ScriptName = keyof typeof scripts;

/** The texts of all deltas of a script that says the same each time. */
export function textsOf(name: ScriptName): readonly string[] {
  const { deltas, delta } = scripts[name];
  return Array.from({ length: deltas }, (_, at) => delta(at));
}

/** Microseconds of the clock that all processes of this machine share. */
export function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** The time of a delta, as `stamp` has written it. */
export function stampedMicros(text: string): number {
  return Number(text);
}

/** Some deltas have what JSON escapes, and what is not ASCII, as texts do. */
function words(at: number): string {
  return at % 8 === 7 ? ` naïve “word” ${at}, "quoted"\n` : ` word ${at} of the answer`;
}

function stamp(): string {
  return `${nowMicros()} `;
}

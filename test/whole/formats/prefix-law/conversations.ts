import * as fc from 'fast-check';

/** Part of what a user says, or of a result. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string }
  | { readonly type: 'file' };

export interface Call {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
}

export type Thought = 'signed' | 'redacted' | 'of-another-vendor';

export interface Result {
  readonly id: string;
  readonly parts: readonly Part[];
}

/** Step of a conversation, which each format writes in its own way. */
export type Step =
  | { readonly role: 'user'; readonly parts: readonly Part[]; readonly name: string | undefined }
  | { readonly role: 'system' | 'developer'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly thoughts: readonly Thought[];
      readonly text: string | undefined;
      readonly refusal: string | undefined;
      readonly calls: readonly Call[];
    }
  | { readonly role: 'results'; readonly results: readonly Result[] };

type SystemStep = Extract<Step, { role: 'system' | 'developer' }>;

const words = fc.constantFrom('one', 'two words', 'three\n', '# four');
const maybeBlank = fc.oneof({ arbitrary: words, weight: 5 }, fc.constantFrom('', ' ', '\n\n'));
const text = maybeBlank.map((text): Part => ({ type: 'text', text }));
const png = 'data:image/png;base64,aGk=';
const image = fc.constantFrom(png, 'https://a.example/b.png').map((url): Part => ({ type: 'image', url }));
const file = fc.constant<Part>({ type: 'file' });

const parts = fc.array(
  fc.oneof({ arbitrary: text, weight: 5 }, { arbitrary: image, weight: 2 }, { arbitrary: file, weight: 1 }),
  { minLength: 1, maxLength: 3 },
);

const user = fc.record({
  role: fc.constant('user' as const),
  parts,
  name: fc.constantFrom(undefined, undefined, 'ann', 'bob'),
});

const system = fc
  .record({ role: fc.constantFrom('system' as const, 'developer' as const), text: maybeBlank })
  .map((step): SystemStep => step);
const lateSystem = fc.array(system, { maxLength: 2 });

const call = fc.record({
  name: fc.constantFrom('look', 'find', 'gone.by'),
  input: fc.constantFrom('{}', '{"filter[id]": 12345678901234567890}', '{"a":"b"}'),
  result: parts,
});

const round = fc.record({
  users: fc.array(user, { maxLength: 2 }),
  before: lateSystem,
  thoughts: fc.array(fc.constantFrom<Thought>('signed', 'redacted', 'of-another-vendor'), { maxLength: 2 }),
  text: fc.option(maybeBlank, { nil: undefined }),
  refusal: fc.constantFrom(undefined, undefined, undefined, 'I will not.'),
  calls: fc.array(call, { maxLength: 3 }),
  /** Ids that begin anew in each turn, as some clients number them. */
  hasOwnIds: fc.boolean(),
  between: lateSystem,
  isReversed: fc.boolean(),
  orphan: fc.constantFrom(undefined, undefined, undefined, 'call_lost'),
  after: lateSystem,
});

type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never;

/** Steps of a conversation, and the number of those that its first request has. */
export interface Conversation {
  readonly steps: readonly Step[];
  readonly first: number;
}

/** Conversation in which a model answers several times. */
export const conversations: fc.Arbitrary<Conversation> = fc
  .tuple(lateSystem, fc.array(round, { minLength: 2, maxLength: 4 }), fc.nat(), user)
  .map(([begin, rounds, at, last]) => {
    const steps = [...begin, ...rounds.flatMap((each, nth) => stepsOf(each, nth, rounds[nth - 1])), last];
    const ends = requestEnds(steps);
    return { steps, first: ends[at % ends.length] ?? steps.length };
  });

function stepsOf(given: Round, nth: number, before: Round | undefined): readonly Step[] {
  const users: readonly Step[] =
    given.users.length > 0 || (before && before.calls.length > 0) ? given.users : [goOn];
  const calls = given.calls.map(({ name, input }, at) => ({ id: idOf(given, nth, at), name, input }));
  const { thoughts, text, refusal, between, after, before: late } = given;
  const isEmpty = calls.length === 0 && text === undefined && refusal === undefined;
  const answer: Step = { role: 'assistant', thoughts, text: isEmpty ? '' : text, refusal, calls };
  const results = given.calls.map(({ result }, at) => ({ id: idOf(given, nth, at), parts: result }));
  const ordered = given.isReversed ? results.toReversed() : results;
  const orphan = given.orphan
    ? [{ id: given.orphan, parts: [{ type: 'text', text: 'Lost.' } as const] }]
    : [];
  const all = [...ordered, ...orphan];
  const answers: readonly Step[] = all.length > 0 ? [...between, { role: 'results', results: all }] : [];
  return [...users, ...late, answer, ...answers, ...after];
}

const goOn: Step = { role: 'user', parts: [{ type: 'text', text: 'Go on.' }], name: undefined };

function idOf({ hasOwnIds }: Round, nth: number, at: number): string {
  return hasOwnIds ? `call_${at}` : `call.${nth}_${at}`;
}

/** True for a step that says nothing, as no format sends it on. */
function isSilent(step: Step): boolean {
  return 'text' in step && step.role !== 'assistant' && step.text?.trim() === '';
}

/**
 * Places at which a request may end: someone has spoken, all calls are answered, and the last turn is not of the
 * assistant, which the answer would continue, and so change.
 */
function requestEnds(steps: readonly Step[]): readonly number[] {
  return steps.flatMap((_, at) => {
    const said = steps.slice(0, at + 1).filter((each) => !isSilent(each));
    const last = said.findLast(({ role }) => role === 'assistant' || role === 'results');
    const isOpen = last?.role === 'assistant' && last.calls.length > 0;
    const isBegun = said.some(({ role }) => role === 'user' || role === 'assistant');
    return said.at(-1)?.role === 'assistant' || isOpen || !isBegun ? [] : [at + 1];
  });
}

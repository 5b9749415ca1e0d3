/** Reader of the calls that an entry of a conversation makes, and of the call that it answers. */
export interface CallReader<Entry> {
  readonly callsOf: (entry: Entry) => readonly string[];
  /** Undefined for an entry that is not a result. */
  readonly answeredBy: (entry: Entry) => string | undefined;
}

/** Moves each result right after its call, as servers demand; one without an earlier call stays in place. */
export function answersInOrder<Entry extends object>(
  entries: readonly Entry[],
  { callsOf, answeredBy }: CallReader<Entry>,
): readonly Entry[] {
  const answers = answersById(entries, answeredBy);
  const moved = new Set<Entry>();
  const ordered: Entry[] = [];
  entries.forEach((entry, at) => {
    if (moved.has(entry)) return;
    ordered.push(entry);
    for (const id of callsOf(entry)) {
      const answer = nextAfter(at, answers.get(id));
      if (!answer) continue;
      moved.add(answer);
      ordered.push(answer);
    }
  });
  return ordered;
}

interface Answers<Entry> {
  readonly list: { readonly entry: Entry; readonly at: number }[];
  next: number;
}

function answersById<Entry>(
  entries: readonly Entry[],
  answeredBy: CallReader<Entry>['answeredBy'],
): ReadonlyMap<string, Answers<Entry>> {
  const answers = new Map<string, Answers<Entry>>();
  entries.forEach((entry, at) => {
    const id = answeredBy(entry);
    if (id === undefined) return;
    const known = answers.get(id) ?? { list: [], next: 0 };
    known.list.push({ entry, at });
    answers.set(id, known);
  });
  return answers;
}

/** First answer after a call that no other call has claimed; those before the call match no later one either. */
function nextAfter<Entry>(call: number, answers: Answers<Entry> | undefined): Entry | undefined {
  if (!answers) return undefined;
  while ((answers.list[answers.next]?.at ?? Infinity) < call) answers.next += 1;
  const claimed = answers.list[answers.next];
  answers.next += 1;
  return claimed?.entry;
}

/** True for a text that reports a failed tool. */
export function saysError(text: string | undefined): boolean {
  return text !== undefined && /^\W*error/i.test(text);
}

/** Text of a failed call, for formats without a field for it. */
export function asError(text: string): string {
  return saysError(text) ? text : `Error: ${text}`;
}

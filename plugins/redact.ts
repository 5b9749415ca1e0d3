import {
  definePlugin,
  mapText,
  Type,
  type EventStream,
  type MessagesRequest,
  type TextMap,
} from '@gw2api/gateway/plugin';
import {
  compilePatterns,
  PatternOption,
  replaceMatches,
  type Match,
  type Pattern,
} from './shared/patterns.js';
import { SearchTime } from './shared/search-time.js';
import { replaceTexts } from './shared/request-texts.js';

/** Replaces personal data in requests by placeholders, and puts it back into the answer. */
export default definePlugin({
  name: 'redact',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  intercepts: true,
  conceals: true,
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    patterns: Type.Array(PatternOption, {
      minItems: 1,
      default: ['email', 'card', 'phone', 'iban'],
      description:
        "Known patterns, and your own in the syntax of RE2: { name: employee, pattern: '\\bEMP-\\d{6}\\b' }",
    }),
    system: Type.Boolean({ default: false, description: 'Also in the system prompt.' }),
    restore: Type.Boolean({ default: true, description: 'false: the caller sees the placeholders too.' }),
    maxValues: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1000,
      description: 'Limit for one request; further values are replaced and not restored.',
    }),
  }),
  setup({ patterns, system, restore, maxValues }, host) {
    const known = [...compilePatterns(patterns), ...(restore ? [placeholderPattern] : [])];
    const counter = host.metrics.counter('gw2api_redacted_values_total', 'Values that redact has replaced.', [
      'pattern',
    ]);
    const redacted = (request: MessagesRequest, values: Values, owner: object): Promise<MessagesRequest> => {
      const time = SearchTime.of(owner, host.clock.monotonicMs);
      const hidden = (match: Match, found: string): string => values.hide(match, found);
      return replaceTexts(request, (texts) => replaceMatches(known, texts, hidden, time), {
        system,
        done: values.done,
      });
    };
    const newValues = () => new Values(restore ? maxValues : 0, (name) => counter.add({ pattern: name }));
    const ofRequests = new WeakMap<object, Values>();
    return {
      async middleware({ state, req }, next) {
        const values = newValues();
        state.request = await redacted(state.request, values, req);
        values.isShared = true;
        ofRequests.set(req, values);
        await next();
      },
      // Once more: stages above may call with another request, as one that continues an answer.
      async intercept(request, call, { req }) {
        const values = ofRequests.get(req) ?? newValues();
        const reply = await call(await redacted(request, values, req));
        return { ...reply, events: values.restored(reply.events) };
      },
    };
  },
});

/** Values of one request by their placeholders, numbered in the order in which they first occur. */
export class Values {
  readonly #maxValues: number;
  readonly #onValue: (name: string) => void;
  readonly #placeholders = new Map<string, string>();
  readonly #values = new Map<string, string>();
  /** Messages without values. */
  readonly done = new WeakSet<object>();
  /** True once placeholders have been created; existing ones are then left unchanged. */
  isShared = false;
  readonly #counts = new Map<string, number>();
  #longest = 0;

  constructor(maxValues: number, onValue: (name: string) => void = () => undefined) {
    this.#maxValues = maxValues;
    this.#onValue = onValue;
  }

  /** Placeholder of a value, the same each time; beyond the limit one that is not restored. */
  hide({ name }: Pick<Match, 'name'>, value: string): string {
    if (this.isShared && this.#values.has(value)) return value;
    const known = this.#placeholders.get(value);
    if (known) return known;
    this.#onValue(name);
    const label = name.toUpperCase().replaceAll('-', '_');
    if (this.#values.size >= this.#maxValues) return `[${label}]`;
    const count = (this.#counts.get(label) ?? 0) + 1;
    const placeholder = `[${label}_${count}]`;
    this.#counts.set(label, count);
    this.#placeholders.set(value, placeholder);
    this.#values.set(placeholder, value);
    this.#longest = Math.max(this.#longest, placeholder.length);
    return placeholder;
  }

  /** Puts the values back into an answer, except into thinking, which is signed. */
  restored(events: EventStream): EventStream {
    if (this.#values.size === 0) return events;
    return mapText(events, { hold: this.#longest, kinds: ['text', 'input'], find: this.#find });
  }

  readonly #find: TextMap['find'] = (text, from, kind) => {
    for (let start = text.indexOf('[', from); start >= 0; start = text.indexOf('[', start + 1)) {
      const end = text.indexOf(']', start) + 1;
      const value = this.#values.get(text.slice(start, end));
      if (value !== undefined) return { start, end, text: kind === 'input' ? inJson(value) : value };
    }
    return undefined;
  };
}

/** Text as written between the quotes of a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Placeholders in the request itself count as values, to distinguish them from generated ones. */
const placeholderPattern: Pattern = {
  name: 'text',
  find(text, from) {
    const placeholder = /\[[A-Z][A-Z\d_]{0,20}_\d{1,6}\]/g;
    placeholder.lastIndex = from;
    const found = placeholder.exec(text);
    return found ? { name: 'text', start: found.index, end: placeholder.lastIndex } : undefined;
  },
};

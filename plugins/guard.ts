import {
  definePlugin,
  TextMapper,
  textReply,
  Type,
  type Logger,
  type MessagesRequest,
  type ModelEventBatch,
  type TextMap,
  type Transform,
} from '@gw2api/gateway/plugin';
import {
  compilePatterns,
  firstMatch,
  importPattern,
  PatternOption,
  replaceMatches,
  type Match,
} from './shared/patterns.js';
import { SearchTime } from './shared/search-time.js';
import { replaceTexts } from './shared/request-texts.js';

/** Stops or masks forbidden content of an answer while it streams. */
export default definePlugin({
  name: 'guard',
  api: 1,
  requires: ['request'],
  intercepts: true,
  options: Type.Object({
    patterns: Type.Array(PatternOption, {
      default: [],
      description:
        'Known patterns (email, card, phone, iban), and your own in the syntax of RE2: { name: project, pattern: (?i)bluebird }',
    }),
    module: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Module whose default export is (text, from) => { start, end } | undefined; relative to this file. Default: none.',
      }),
    ),
    action: Type.Enum(['refuse', 'cut', 'mask', 'audit'] as const, {
      default: 'refuse',
      description:
        'refuse (the answer ends as a refusal) | cut (it ends as if it were complete) | mask (it goes on) | audit (matches are only counted)',
    }),
    text: Type.String({
      default: 'Removed by a rule of this gateway.',
      description: 'Explanation of a refusal; what stands in place of a masked match.',
    }),
    kinds: Type.Array(Type.Enum(['text', 'thinking', 'input'] as const), {
      default: ['text', 'input'],
      description: 'What to search: text, thinking, input (of tools, as JSON text).',
    }),
    hold: Type.Integer({
      minimum: 1,
      maximum: 65_536,
      default: 256,
      description: 'Length of the longest match, in characters; that much of the answer is held back.',
    }),
    request: Type.Boolean({
      default: false,
      description: 'Also search the request: a match is refused without a call, or masked.',
    }),
  }),
  async setup({ patterns, module, action, text, kinds, hold, request: isRequestSearched }, host) {
    const rules = [
      ...compilePatterns(patterns),
      ...(module === undefined ? [] : [await importPattern(host.resolvePath(module))]),
    ];
    if (rules.length === 0) throw new Error('patterns: name at least one, or a module.');
    const counter = host.metrics.counter('gw2api_guard_matches_total', 'Matches of guard.', [
      'pattern',
      'place',
    ]);
    const count = (pattern: string, place: string): void => counter.add({ pattern, place });
    const end = {
      refuse: { ends: { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: text } } },
      cut: { ends: { stop_reason: 'end_turn' } },
      mask: undefined,
      audit: undefined,
    }[action];
    const answer: TextMap = {
      hold,
      kinds,
      find(said, from, kind) {
        const match = firstMatch(rules, said, from);
        return match && { ...match, ...(end ?? { text: kind === 'input' ? inJson(text) : text }) };
      },
      onMatch: ({ name = '' }) => count(name, 'answer'),
    };
    const ofRequest = { refuse: '', cut: '', mask: text, audit: undefined }[action];
    const counted = ({ name }: Match, found: string): string => (count(name, 'request'), ofRequest ?? found);
    const masked = (request: MessagesRequest, owner: object): Promise<MessagesRequest> => {
      const time = SearchTime.of(owner, host.clock.monotonicMs);
      return replaceTexts(request, (texts) => replaceMatches(rules, texts, counted, time), { system: false });
    };
    return {
      async intercept(request, call, { req, state }) {
        if (action === 'audit') {
          const report = reportTo(state.log, host.name);
          if (isRequestSearched) await masked(request, req).catch(report);
          const reply = await call(request);
          return { ...reply, events: reply.events.through(new Observed(new TextMapper(answer), report)) };
        }
        const asked = isRequestSearched ? await masked(request, req) : request;
        if (asked !== request && end) return textReply(text, { stopReason: 'refusal' });
        return call(asked, { through: () => new TextMapper(answer) });
      },
    };
  },
});

/** Passes events on as they are, and shows them to a transform whose output is dropped. */
class Observed implements Transform {
  readonly #report: (error: unknown) => void;
  #mapper: Transform | undefined;

  constructor(mapper: Transform, report: (error: unknown) => void) {
    this.#mapper = mapper;
    this.#report = report;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    this.#show((mapper) => mapper.transform(batch));
    return batch;
  }

  flush(): undefined {
    this.#show((mapper) => mapper.flush?.());
  }

  #show(step: (mapper: Transform) => unknown): void {
    try {
      if (this.#mapper) step(this.#mapper);
    } catch (error) {
      this.#mapper = undefined;
      this.#report(error);
    }
  }
}

function reportTo(log: Logger, stage: string): (error: unknown) => void {
  return (err) => log.warn({ stage, err }, 'The search of an audit failed; the request continues.');
}

/** Text as written between the quotes of a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

import type { Static, TSchema } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { Duration, Type } from '../../plugin/index.js';
import { Time } from '../../kit/schema/units.js';

const Text = Type.String({ minLength: 1 });
const Count = Type.Integer({ minimum: 1 });
const Usd = Type.Number({ minimum: 0.000_001, maximum: 1_000_000 });
const Headers = Type.Record(Type.String(), Type.String());

/** Optional value with its description, which editors show. */
function Described<Schema extends TSchema>(description: string, schema: Schema) {
  return Type.Optional({ ...schema, description });
}

const SlotAnswer = Closed(
  {
    scenario: Described(
      'Scenarios of the simulator, each with its parameters: text, "cut after=5".',
      Type.Unsafe<string | readonly string[]>({
        type: ['string', 'array'],
        items: Text,
        minItems: 1,
        minLength: 1,
      }),
    ),
    status: Described('The scenario of this status: an error.', Type.Integer({ minimum: 400, maximum: 599 })),
    retryAfter: Described('Seconds, beside "status".', Type.Integer({ minimum: 0 })),
  },
  { minProperties: 1 },
);

const Slots = Type.Record(Type.String(), SlotAnswer);

const limits = {
  requestsPerMinute: Type.Optional(Count),
  tokensPerMinute: Type.Optional(Count),
  tokensPerDay: Type.Optional(Count),
  tokensPerMonth: Type.Optional(Count),
  usdPerDay: Described('Budget in USD.', Usd),
  usdPerMonth: Described('Budget in USD.', Usd),
  maxConcurrent: Type.Optional(Count),
};

const Key = Closed({
  models: Described('Models that the key may use; * matches any text.', Type.Array(Text)),
  slots: Described('Slots that the key may use; * matches any text.', Type.Array(Text)),
  team: Described('Name of its team, one of "teams".', Text),
  pipeline: Described('Pipeline that the key names.', Text),
  ...limits,
});

const Team = Closed({ pipeline: Described('Pipeline that the team names.', Text), ...limits });

const Caller = Closed({
  key: Described('Name of the key; "nobody" sends none.', Text),
  headers: Type.Optional(Headers),
});

const CallerOrKey = Type.Unsafe<string | Static<typeof Caller>>({
  type: ['string', 'object'],
  minLength: 1,
  if: { type: 'object' },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: Caller,
});

const Leave = Closed(
  {
    afterEvents: Described('Events of the answer.', Type.Integer({ minimum: 0 })),
    after: Described('Time on the clock of the test.', Duration()),
  },
  { minProperties: 1 },
);

const sent = {
  post: Described('Path of a POST, such as /v1/messages.', Text),
  get: Described('Path of a GET.', Text),
  method: Described('Any other method, beside "path".', Text),
  path: Described('Path, beside "method".', Text),
  as: Described('The caller: name of a key, "nobody", or a key with headers.', CallerOrKey),
  headers: Type.Optional(Headers),
  body: Described('Sent as JSON; a text as it is.', Type.Unsafe<unknown>({})),
  bodyFile: Described('A JSON file, relative to this one.', Text),
};

/** Expectation of a request, whose keys `compileExpectation` checks. */
const Expectation = Type.Unsafe<unknown>({ type: ['object', 'string'] });

const asked = {
  ...sent,
  same: Described('Sends the last request once more; other keys here override it.', Type.Boolean()),
  leave: Described('The caller leaves before the answer ends.', Leave),
  expect: Described('What the request must show, or "snapshot", which --update replaces.', Expectation),
};

const Concurrent = Closed(asked);

const Step = Closed({
  ...asked,
  after: Described('Advances the clock before the request.', Duration()),
  slots: Described('Scenarios that replace slots from this request on.', Slots),
  together: Described(
    'Requests that are sent at once.',
    Type.Array(Concurrent, { minItems: 1, maxItems: 100 }),
  ),
});

const setting = {
  env: Described(
    'Environment variables of the config, over those of the process.',
    Type.Record(
      Type.String(),
      Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }),
    ),
  ),
  slots: Described('Scenarios that replace the accounts of slots. Default: an ordinary answer.', Slots),
  remotes: Described(
    'Replies to the questions of remote stages, in order, the last one again; { status: 500 } fails. Default: allow.',
    Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1 })),
  ),
  keys: Described('Terms of keys, by name. Default: none.', Type.Record(Type.String(), Key)),
  teams: Described(
    'Limits and pipeline that the keys of a team share, by the name of the team.',
    Type.Record(Type.String(), Team),
  ),
  clock: Described('Time at which the test begins. Default: now.', Time()),
  start: Described('Calls `start` of stages, too.', Type.Boolean()),
};

/** Schema of an entry under `tests:`. */
export const TestSchema = Closed({
  name: Type.String({ minLength: 1, description: 'A true sentence about the config.' }),
  ...setting,
  only: Described('Runs only the tests with this flag.', Type.Boolean()),
  skip: Described('Skips this test, for this reason.', Text),
  requests: Type.Array(Step, {
    minItems: 1,
    maxItems: 1000,
    description: 'Sent one after the other to one gateway.',
  }),
});

/** Schema of a `*.test.yaml`. */
export const TestFileSchema = Closed({
  config: Described('The config, relative to this file. Default: that of the command line.', Text),
  defaults: Described(
    'Settings of every test in this file, and defaults for every request.',
    Closed({ ...setting, request: Type.Optional(Closed(sent)) }),
  ),
  tests: Type.Array(TestSchema, { minItems: 1, maxItems: 10_000 }),
});

export type RawTestFile = Static<typeof TestFileSchema>;
export type RawTest = Static<typeof TestSchema>;
export type RawStep = Static<typeof Step>;
export type RawRequest = Static<typeof Concurrent>;
export type RawSlots = Static<typeof Slots>;

import type { Static, TSchema } from 'typebox';
import { Closed } from '../../kit/schema/type.js';
import { Duration, Type } from '../../plugin/index.js';
import { Time } from '../../kit/schema/units.js';

const Text = Type.String({ minLength: 1 });
const Count = Type.Integer({ minimum: 1 });
const Usd = Type.Number({ minimum: 0.000_001, maximum: 1_000_000 });
const Headers = Type.Record(Type.String(), Type.String());

/** Optional value with its description, which editors show. */
function Told<Schema extends TSchema>(description: string, schema: Schema) {
  return Type.Optional({ ...schema, description });
}

const SlotAnswer = Closed(
  {
    scenario: Told(
      'Scenarios of the simulator, each with its parameters: text, "cut after=5".',
      Type.Unsafe<string | readonly string[]>({ type: ['string', 'array'], items: Text, minLength: 1 }),
    ),
    status: Told('The scenario of this status: an error.', Type.Integer({ minimum: 400, maximum: 599 })),
    retryAfter: Told('Seconds, beside "status".', Type.Integer({ minimum: 0 })),
  },
  { minProperties: 1 },
);

const Slots = Type.Record(Type.String(), SlotAnswer);

const limits = {
  requestsPerMinute: Type.Optional(Count),
  tokensPerMinute: Type.Optional(Count),
  tokensPerDay: Type.Optional(Count),
  tokensPerMonth: Type.Optional(Count),
  usdPerDay: Told('Budget in USD.', Usd),
  usdPerMonth: Told('Budget in USD.', Usd),
  maxConcurrent: Type.Optional(Count),
};

const Key = Closed({
  models: Told('Models that the key may use; * matches any text.', Type.Array(Text)),
  slots: Told('Slots that the key may use; * matches any text.', Type.Array(Text)),
  team: Told('Name of its team, one of "teams".', Text),
  ...limits,
});

const Team = Closed(limits);

const Caller = Closed({
  key: Told('Name of the key; "nobody" sends none.', Text),
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
    afterEvents: Told('Events of the answer.', Type.Integer({ minimum: 0 })),
    after: Told('Time on the clock of the test.', Duration()),
  },
  { minProperties: 1 },
);

const sent = {
  post: Told('Path of a POST, such as /v1/messages.', Text),
  get: Told('Path of a GET.', Text),
  method: Told('Any other method, beside "path".', Text),
  path: Told('Path, beside "method".', Text),
  as: Told('The caller: name of a key, "nobody", or a key with headers.', CallerOrKey),
  headers: Type.Optional(Headers),
  body: Told('Sent as JSON; a text as it is.', Type.Unsafe<unknown>({})),
  bodyFile: Told('A JSON file, relative to this one.', Text),
};

/** Expectation of a request, whose keys `compileExpectation` checks. */
const Expectation = Type.Unsafe<unknown>({ type: ['object', 'string'] });

const asked = {
  ...sent,
  same: Told('Sends the last request once more; other keys here override it.', Type.Boolean()),
  leave: Told('The caller leaves before the answer ends.', Leave),
  expect: Told('What the request must show, or "snapshot", which --update replaces.', Expectation),
};

const Concurrent = Closed(asked);

const Step = Closed({
  ...asked,
  after: Told('Advances the clock before the request.', Duration()),
  slots: Told('Scenarios that replace slots from this request on.', Slots),
  together: Told('Requests that are sent at once.', Type.Array(Concurrent, { minItems: 1, maxItems: 100 })),
});

const setting = {
  env: Told(
    'Environment variables of the config, over those of the process.',
    Type.Record(
      Type.String(),
      Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }),
    ),
  ),
  slots: Told('Scenarios that replace the accounts of slots. Default: an ordinary answer.', Slots),
  keys: Told('Terms of keys, by name. Default: none.', Type.Record(Type.String(), Key)),
  teams: Told(
    'Limits that the keys of a team share, by the name of the team.',
    Type.Record(Type.String(), Team),
  ),
  clock: Told('Time at which the test begins. Default: now.', Time()),
  start: Told('Calls `start` of stages, too.', Type.Boolean()),
};

/** Schema of an entry under `tests:`. */
export const TestSchema = Closed({
  name: Type.String({ minLength: 1, description: 'A true sentence about the config.' }),
  ...setting,
  only: Told('Runs only the tests with this flag.', Type.Boolean()),
  skip: Told('Skips this test, for this reason.', Text),
  requests: Type.Array(Step, {
    minItems: 1,
    maxItems: 1000,
    description: 'Sent one after the other to one gateway.',
  }),
});

/** Schema of a `*.test.yaml`. */
export const TestFileSchema = Closed({
  config: Told('The config, relative to this file. Default: that of the command line.', Text),
  defaults: Told(
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

import { expect } from 'chai';
import type { AccountHost, OutgoingRequest } from '@gw2api/gateway/plugin/upstream';
import { ConfigError } from '#src/config/config.js';
import { loadSlots } from '#src/engine/pipeline/load/load-slots.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { loadWithSlots } from './load-with-slots.js';

interface Broken {
  readonly wrong: string;
  /** The whole of `gateway.yaml`; a slot is added where it has none. */
  readonly text: string;
  /** All that is said about it. */
  readonly says: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const messagesSlot = 'upstream: messages, baseUrl: https://upstream.example';

const unsendable = 'contains a line break or another character that no HTTP header can hold';
const noHeader =
  'is not a header that can be added: it needs a name of letters, digits and dashes that does not concern the connection, and a single-line value';

const secretHeader = 'is a header whose value is a secret; identify the caller by "caller" instead';
const lastTakesAll = 'the last alternative takes all requests that the others do not';

/** Configs that cannot work. */
const broken: readonly Broken[] = [
  {
    wrong: 'names of attributes that nobody has, and a sample without its sign',
    text: 'pipeline: [{ use: auth }]\ntelemetry: { semconv: "1.30", sample: 10 }\n',
    says: [
      'gateway.yaml:2:14 telemetry.semconv: must be one of "1.36", "latest", not "1.30"',
      'gateway.yaml:2:31 telemetry.sample: must be a percentage such as "10%" or "0.5%", not 10',
    ],
  },
  {
    wrong: 'a collector whose address is none, and headers that cannot be sent',
    text: 'pipeline: [{ use: auth }]\ntelemetry: { otlp: "collector:4318", headers: { "a b": x, te: y }, timeout: 0s }\n',
    says: [
      'gateway.yaml:2:14 telemetry.otlp: must be an address such as http://127.0.0.1:4318',
      'gateway.yaml:2:49 telemetry.headers.a b: must be a header with a single-line value',
      'gateway.yaml:2:59 telemetry.headers.te: must be a header with a single-line value',
      'gateway.yaml:2:68 telemetry.timeout: must be longer than 0s',
    ],
  },
  {
    wrong: 'a mistyped key',
    text: 'pipeline:\n  - use: max-tokens\n    wiht: { cap: 1000 }\n',
    says: ['gateway.yaml:3:5 pipeline[0].wiht: is not a known key; did you mean "with"?'],
  },
  {
    wrong: 'numbers of a slot that are infinite',
    text: `pipeline: [{ use: auth }]\nslots:\n  - { id: a, ${messagesSlot}, weight: .inf, maxConcurrent: .inf, account: { kind: api-key, key: k } }\n`,
    says: [
      'gateway.yaml:3:69 slots[0].weight: must be a finite number, not Infinity',
      'gateway.yaml:3:83 slots[0].maxConcurrent: must be a whole number, not Infinity',
    ],
  },
  {
    wrong: 'a file that says nothing',
    text: '# later\nslots:\n',
    says: ['gateway.yaml:1:1 pipeline: is required', 'gateway.yaml:2:1 slots: is required'],
  },
  {
    wrong: 'text that is no YAML, without its echoes',
    text: 'pipeline: [\n  - use: auth\nslots: 5\n',
    says: [
      'gateway.yaml:2:3 is not valid YAML here: Block collections are not allowed within flow collections',
    ],
  },
  {
    wrong: 'a variable within braces',
    text: 'pipeline: [{ use: auth }]\nlisten: { port: ${PORT_NUMBER} }\n',
    says: [
      'gateway.yaml:2:18 is not valid YAML here: Unexpected flow-map-start at node end; within braces write "${NAME}" in quotes',
    ],
  },
  {
    wrong: 'slots that are a map',
    text: 'pipeline: [{ use: auth }]\nslots: { a: [{ upstream: simulator }] }\n',
    says: [
      'gateway.yaml:2:1 slots: must be an array, not an object; write each slot as an entry of the list, `- id: a`',
    ],
  },
  {
    wrong: 'a vendor in the place of an upstream',
    text: [
      'pipeline: [{ use: auth }]',
      'slots:',
      '  - { id: a, upstream: openai }',
      '  - { id: b, upstream: azure }',
      '  - { id: c, upstream: anthropic }',
      '  - { id: d, upstream: nowhere }',
    ].join('\n'),
    says: [
      'gateway.yaml:3:14 slots[0].upstream "openai" is a preset of the upstream "chat"; write `upstream: chat` and `with: { preset: openai }`',
      'gateway.yaml:4:14 slots[1].upstream "azure" is a preset of the upstream "chat"; write `upstream: chat` and `with: { preset: azure-openai }`',
      'gateway.yaml:5:14 slots[2].upstream "anthropic" is a vendor; the upstream is its protocol: write `upstream: messages`',
      'gateway.yaml:6:14 slots[3].upstream "nowhere" is neither a built-in nor an installed npm package; install it, or write "./nowhere.js" for a file',
    ],
  },
  {
    wrong: 'a slot whose id no header can hold',
    text: 'pipeline: [{ use: auth }]\nslots: [{ id: "équipe", upstream: simulator }]\n',
    says: [
      'gateway.yaml:2:11 slots[0].id: must be ASCII letters, digits and punctuation: answers name it in a header',
    ],
  },
  {
    wrong: 'a variable that is not set',
    text: 'pipeline: [{ use: body-limit, with: { limit: "${MAX_BODY}" } }]\n',
    says: [
      'gateway.yaml:1:39 pipeline[0].with.limit: the environment variable MAX_BODY is not set; set it, or write ${MAX_BODY:-default}',
    ],
  },
  {
    wrong: 'a key that is written twice',
    text: 'pipeline: [{ use: auth }]\nlive: memory\nlive: memory\n',
    says: ['gateway.yaml:3:1 live: appears twice, first at line 2; keep one of them'],
  },
  {
    wrong: 'an anchor that is nowhere',
    text: 'pipeline: [{ use: auth }]\nofficialClient: *vendor\n',
    says: ['gateway.yaml:2:1 officialClient: names an anchor that is not defined above it'],
  },
  {
    wrong: 'networks of proxies that are none',
    text: 'listen: { trustProxy: [10.0.0.0/8, 10.0.0.0/33, "::1/64", proxy] }\npipeline: [{ use: auth }]\n',
    says: [
      'gateway.yaml:1:36 listen.trustProxy[1]: must be a network such as 10.0.0.0/8 or fd00::/8, not "10.0.0.0/33"',
      'gateway.yaml:1:59 listen.trustProxy[3]: must be a network such as 10.0.0.0/8 or fd00::/8, not "proxy"',
    ],
  },
  {
    wrong: 'no proxy among those that are trusted',
    text: 'listen: { trustProxy: 0 }\npipeline: [{ use: auth }]\n',
    says: ['gateway.yaml:1:11 listen.trustProxy: must be at least 1'],
  },
  {
    wrong: 'wrong types, and quotes that are too many or too few',
    text: [
      'listen: { port: "8787", workers: 4, trustProxy: yes, shutdownTimeout: 30 }',
      'pipeline:',
      '  - auth',
      '  - use: 5',
      '    enabled: "yes"',
    ].join('\n'),
    says: [
      'gateway.yaml:1:11 listen.port: must be a whole number, not a string; write it without quotes',
      'gateway.yaml:1:37 listen.trustProxy: must be true or false or a whole number or an array, not a string',
      'gateway.yaml:1:54 listen.shutdownTimeout: must be a duration such as "500ms", "30s" or "1h", not 30',
      'gateway.yaml:3:5 pipeline[0]: must be an object, not a string; write `- use: auth`',
      'gateway.yaml:4:5 pipeline[1].use: must be a string, not a number; write it in quotes',
      'gateway.yaml:5:5 pipeline[1].enabled: must be true or false, not a string',
    ],
  },
  {
    wrong: 'several workers that share no store',
    text: 'pipeline: [{ use: auth }]\nlisten: { workers: 4 }\nstore: memory\n',
    says: [
      'gateway.yaml:2:11 listen.workers: needs a store that several processes share: set store to "sqlite:PATH" or "postgres://USER@HOST/DATABASE"',
    ],
  },
  {
    wrong: 'a number of workers that is none',
    text: 'pipeline: [{ use: auth }]\nlisten: { workers: all }\n',
    says: ['gateway.yaml:2:11 listen.workers: must be a whole number or "auto", not "all"'],
  },
  {
    wrong: 'a PORT in the environment that is none',
    text: 'listen: { port: 80 }\npipeline: [{ use: auth }]\n',
    env: { PORT: 'http' },
    says: [
      'gateway.yaml:1:11 listen.port: the environment variable PORT, which overrides it, must be a port from 0 to 65535, not "http"',
    ],
  },
  {
    wrong: 'a condition that nothing can meet',
    text: 'pipeline:\n  - use: auth\n    when: { format: [chat], operation: generatte, model: 3, colour: red }\n',
    says: [
      'gateway.yaml:3:29 pipeline[0].when.operation: must be one of "generate", "count-tokens", "models", "usage", "route", "other", not "generatte"',
      'gateway.yaml:3:51 pipeline[0].when.model: must be a string or an array, not a number; write it in quotes',
      'gateway.yaml:3:61 pipeline[0].when.colour: is not a known key; known here: format, model, operation, caller, team, claim, path, header, stream, sample, not',
    ],
  },
  {
    wrong: 'no slot',
    text: 'pipeline: [{ use: auth }]\nslots: []\n',
    says: ['gateway.yaml:2:1 slots: must have at least 1 item(s)'],
  },
  {
    wrong: 'two slots of one name',
    text: `pipeline: [{ use: auth }]\nslots:\n  - { id: a, upstream: simulator }\n  - { id: a, upstream: simulator }\n`,
    says: [
      'gateway.yaml:4:7 slots[1].id: "a" is already the id of slots[0] at line 3; give each slot its own',
    ],
  },
  {
    wrong: 'an upstream without a place and an account',
    text: 'pipeline: [{ use: auth }]\nslots:\n  - { id: a, upstream: messages }\n  - { id: b, upstream: mesages }\n  - { id: c, upstream: cloud }\n',
    says: [
      'gateway.yaml:3:5 slots[0].baseUrl: is required: the address of the upstream, `https://upstream.example`',
      'gateway.yaml:3:5 slots[0].account: is required; write `account: { kind: api-key, key: "${NAME}" }`, or `{ kind: none }` if none is needed',
      'gateway.yaml:4:14 slots[1].upstream "mesages" is neither a built-in nor an installed npm package; did you mean "messages"?',
      'gateway.yaml:5:14 slots[2].upstream "cloud" is neither a built-in nor an installed npm package; install it, or write "./cloud.js" for a file',
    ],
  },
  {
    wrong: 'accounts that are not one',
    text: [
      'pipeline: [{ use: auth }]',
      'slots:',
      `  - { id: a, ${messagesSlot}, account: { kind: oath } }`,
      `  - { id: b, ${messagesSlot}, account: { kind: api-key, apiKey: x } }`,
      `  - { id: c, ${messagesSlot}, account: { key: x } }`,
      `  - id: d`,
      `    upstream: messages`,
      `    baseUrl: https://upstream.example`,
      `    account: { kind: oauth, accessToken: a, refreshToken: r, tokenUrl: t, clientId: c, expiresAt: soon }`,
    ].join('\n'),
    says: [
      'gateway.yaml:3:80 slots[0].account.kind "oath" is neither a built-in nor an installed npm package; did you mean "oauth"?',
      'gateway.yaml:4:69 slots[1].account.key: is required',
      'gateway.yaml:4:95 slots[1].account.apiKey: is not a known key; known here: key, header',
      'gateway.yaml:5:69 slots[2].account.kind: is required',
      'gateway.yaml:9:62 slots[3].account.tokenUrl: must be a URL that begins with http:// or https://',
      'gateway.yaml:9:88 slots[3].account.expiresAt: must be a time such as 2026-01-01T12:00:00Z, or unix milliseconds, not "soon"',
    ],
  },
  {
    wrong: 'conditions that are none',
    text: [
      'pipeline:',
      '  - use: auth',
      '    when: { haeder: { x-team: red }, stream: yes, sample: 120% }',
      '  - use: auth',
      '    when: { sample: 0.1, not: {} }',
      '  - use: auth',
      '    when: { header: { "x team": red, X-Api-Key: secret }, not: { header: { Authorization: x } } }',
      '  - use: auth',
      '    when: { header: { api-key: a, X-Goog-Api-Key: b } }',
    ].join('\n'),
    says: [
      'gateway.yaml:3:13 pipeline[0].when.haeder: is not a known key; did you mean "header"?',
      'gateway.yaml:3:38 pipeline[0].when.stream: must be true or false, not a string',
      'gateway.yaml:3:51 pipeline[0].when.sample: must be a percentage such as "10%" or "0.5%", not "120%"',
      'gateway.yaml:5:13 pipeline[1].when.sample: must be a percentage such as "10%" or "0.5%", not 0.1',
      'gateway.yaml:5:26 pipeline[1].when.not: must have at least 1 key(s)',
      'gateway.yaml:7:23 pipeline[2].when.header.x team: is not the name of a header',
      `gateway.yaml:7:38 pipeline[2].when.header.X-Api-Key: ${secretHeader}`,
      `gateway.yaml:7:76 pipeline[2].when.not.header.Authorization: ${secretHeader}`,
      `gateway.yaml:9:23 pipeline[3].when.header.api-key: ${secretHeader}`,
      `gateway.yaml:9:35 pipeline[3].when.header.X-Goog-Api-Key: ${secretHeader}`,
    ],
  },
  {
    wrong: 'alternatives that are none',
    text: [
      'pipeline:',
      '  - oneof: []',
      '  - oneOf: []',
      '  - when: { format: chat }',
      '    oneOf:',
      '      - auth',
      '      - use: auth',
      '        enabled: false',
      '  - oneOf:',
      '      - use: auth',
      '      - { use: auth, when: { fromat: chat } }',
      '      - { use: auth, when: { format: chat } }',
      '      - { use: auth, when: { format: chat } }',
    ].join('\n'),
    says: [
      'gateway.yaml:2:5 pipeline[0].use: is required',
      'gateway.yaml:2:5 pipeline[0].oneof: is not a known key; did you mean "oneOf"?',
      'gateway.yaml:3:5 pipeline[1].oneOf: must have at least 1 item(s)',
      'gateway.yaml:4:5 pipeline[2].when: has no meaning beside "oneOf"; write it in each alternative it applies to',
      'gateway.yaml:6:9 pipeline[2].oneOf[0]: must be an object, not a string; write `- use: auth`',
      `gateway.yaml:8:9 pipeline[2].oneOf[1].enabled: must not be false; ${lastTakesAll}`,
      'gateway.yaml:10:9 pipeline[3].oneOf[0]: has no "when", so the alternatives below it never run; give it one, or make it the last',
      'gateway.yaml:11:30 pipeline[3].oneOf[1].when.fromat: is not a known key; did you mean "format"?',
      `gateway.yaml:13:22 pipeline[3].oneOf[3].when: must not be here; ${lastTakesAll}`,
    ],
  },
  {
    wrong: 'names that tell no entry from another',
    text: [
      'pipeline:',
      '  - { use: auth, name: gate }',
      '  - { use: auth, name: gate, enabled: false }',
      '  - use: body-limit',
      '  - { use: body-limit, name: body-limit }',
      '  - oneOf: [{ use: auth, name: gate }]',
      '  - { use: auth, name: "a gate" }',
    ].join('\n'),
    says: [
      'gateway.yaml:5:24 pipeline[3].name: is also the name of pipeline[2] at line 4; give one of them another name',
      'gateway.yaml:6:26 pipeline[4].oneOf[0].name: is also the name of pipeline[0] at line 2; give one of them another name',
      'gateway.yaml:7:18 pipeline[5].name: must match ^[\\w.:-]{1,64}$, not "a gate"',
    ],
  },
  {
    wrong: 'addresses and headers that are none',
    text: [
      'pipeline: [{ use: auth }]',
      'slots:',
      '  - id: a',
      '    upstream: messages',
      '    baseUrl: upstream.example',
      '    proxy: egress:3128',
      '    account: { kind: none }',
      '    headers: { "x extra": "1" }',
      '  - id: b',
      '    upstream: messages',
      '    baseUrl: https://upstream.example/v1/',
      '    account: { kind: none }',
      '  - id: c',
      '    upstream: messages',
      '    baseUrl: https://upstream.example/v1/messages',
      '    account: { kind: none }',
    ].join('\n'),
    says: [
      'gateway.yaml:5:5 slots[0].baseUrl: must be a URL that begins with http:// or https://',
      'gateway.yaml:6:5 slots[0].proxy: must be a URL that begins with http:// or https://',
      `gateway.yaml:8:16 slots[0].headers.x extra: ${noHeader}`,
      'gateway.yaml:11:5 slots[1].baseUrl: ends in /v1, which every call adds; remove it',
      'gateway.yaml:15:5 slots[2].baseUrl: ends in /v1/messages, which every call adds; remove it',
    ],
  },
  {
    wrong: 'a map of models with names that are none',
    text: [
      'pipeline: [{ use: auth }]',
      'slots:',
      '  - { id: a, upstream: simulator, models: { sonnet-5: false } }',
      '  - { id: b, upstream: simulator, models: { sonnet-5: 5 } }',
      '  - { id: c, upstream: simulator, models: {} }',
      '  - { id: d, upstream: simulator, models: { sonnet-5: "" } }',
    ].join('\n'),
    says: [
      'gateway.yaml:3:45 slots[0].models.sonnet-5: must be the name of the model at the upstream, or true; omit models that the slot does not serve',
      'gateway.yaml:4:45 slots[1].models.sonnet-5: must be a string or true or false, not a number; write it in quotes',
      'gateway.yaml:5:35 slots[2].models: must have at least 1 key(s)',
      'gateway.yaml:6:45 slots[3].models.sonnet-5: must not be empty',
    ],
  },
  {
    wrong: 'all of a slot whose variable is not set',
    text: [
      'pipeline: [{ use: auth }]',
      'slots:',
      '  - id: a',
      '    upstream: cloud',
      '    proxy: egress:3128',
      '    account: { kind: api-key, apiKey: "${TEAM_A_KEY}" }',
      '  - id: b',
      '    upstream: messages',
      '    weigth: 2',
      '  - id: c',
      '    upstream: messages',
      '    account: { kind: api-key, key: "${TEAM_C_KEY}" }',
    ].join('\n'),
    says: [
      'gateway.yaml:4:5 slots[0].upstream "cloud" is neither a built-in nor an installed npm package; install it, or write "./cloud.js" for a file',
      'gateway.yaml:5:5 slots[0].proxy: must be a URL that begins with http:// or https://',
      'gateway.yaml:6:5 slots[0].account.key: is required',
      'gateway.yaml:6:31 slots[0].account.apiKey: the environment variable TEAM_A_KEY is not set; set it, or write ${TEAM_A_KEY:-default}',
      'gateway.yaml:6:31 slots[0].account.apiKey: is not a known key; known here: key, header',
      'gateway.yaml:7:5 slots[1].baseUrl: is required: the address of the upstream, `https://upstream.example`',
      'gateway.yaml:7:5 slots[1].account: is required; write `account: { kind: api-key, key: "${NAME}" }`, or `{ kind: none }` if none is needed',
      'gateway.yaml:9:5 slots[1].weigth: is not a known key; did you mean "weight"?',
      'gateway.yaml:10:5 slots[2].baseUrl: is required: the address of the upstream, `https://upstream.example`',
      'gateway.yaml:12:31 slots[2].account.key: the environment variable TEAM_C_KEY is not set; set it, or write ${TEAM_C_KEY:-default}',
    ],
  },
  {
    wrong: 'variables that are none',
    text: [
      'pipeline: [{ use: auth, with: { text: "$${fine} $fine ${}" } }]',
      'slots:',
      `  - { id: a, ${messagesSlot}, account: { kind: api-key, key: "$TEAM_A_KEY" } }`,
      `  - { id: b, ${messagesSlot}, account: { kind: api-key, key: "\${team a}" } }`,
      `  - { id: c, ${messagesSlot}, account: { kind: api-key, key: "\${VALUE}" } }`,
      '  - { id: "d${", upstream: simulator }',
    ].join('\n'),
    env: { VALUE: '$OF_THE_ENVIRONMENT ${}' },
    says: [
      'gateway.yaml:1:33 pipeline[0].with.text: looks like a variable; write ${NAME} or ${NAME:-default}, or $${ for a plain ${',
      'gateway.yaml:3:95 slots[0].account.key: looks like a variable; write ${TEAM_A_KEY}',
      'gateway.yaml:4:95 slots[1].account.key: looks like a variable; write ${NAME} or ${NAME:-default}, or $${ for a plain ${',
      'gateway.yaml:6:7 slots[3].id: looks like a variable; write ${NAME} or ${NAME:-default}, or $${ for a plain ${',
    ],
  },
  {
    wrong: 'a proxy whose password cannot be decoded',
    text: `pipeline: [{ use: auth }]\nslots: [{ id: a, ${messagesSlot}, account: { kind: none }, proxy: "http://us%er:p@proxy:1" }]`,
    says: [
      'gateway.yaml:2:98 slots[0].proxy: has a % in its user or password that encodes nothing; write %25 for a literal %',
    ],
  },
  {
    wrong: 'credentials and headers that HTTP does not take',
    text: [
      'pipeline: [{ use: auth }]',
      'slots:',
      `  - { id: a, ${messagesSlot}, account: { kind: api-key, key: "two\\nlines" } }`,
      `  - { id: b, ${messagesSlot}, account: { kind: api-key, key: " \\n" } }`,
      `  - { id: c, ${messagesSlot}, account: { kind: api-key, key: "\u201cquoted\u201d" } }`,
      `  - { id: d, ${messagesSlot}, account: { kind: oauth, accessToken: "a\\0b", refreshToken: r, clientId: c, tokenUrl: "https://x/t" } }`,
      `  - { id: e, ${messagesSlot}, account: { kind: none }, headers: { x-a: "b\\x7f", connection: close, x-c: "fine\\n", x-d: "\u4e16" } }`,
    ].join('\n'),
    says: [
      `gateway.yaml:3:95 slots[0].account.key: ${unsendable}`,
      'gateway.yaml:4:95 slots[1].account.key: must not be blank',
      `gateway.yaml:5:95 slots[2].account.key: ${unsendable}`,
      `gateway.yaml:6:93 slots[3].account.accessToken: ${unsendable}`,
      `gateway.yaml:7:105 slots[4].headers.x-a: ${noHeader}`,
      `gateway.yaml:7:119 slots[4].headers.connection: ${noHeader}`,
      `gateway.yaml:7:153 slots[4].headers.x-d: ${noHeader}`,
    ],
  },
  {
    wrong: 'state that this version cannot keep',
    text: 'pipeline: [{ use: auth }]\nstore: mysql://root:secret@db\nlive: redis://cache/first\n',
    says: [
      'gateway.yaml:2:1 store: must be "sqlite:PATH" (such as sqlite:./data/gateway.db), "postgres://USER@HOST/DATABASE" or "memory"',
      'gateway.yaml:3:1 live: must name its database by number, such as redis://HOST:6379/0',
    ],
  },
  {
    wrong: 'Redis with sentinels as a cluster, a database of a cluster, and nodes without a port',
    text: [
      'pipeline: [{ use: auth }]',
      'live:',
      '  url: redis://:hidden@redis/0',
      '  sentinel:',
      '    name: mymaster',
      '    nodes:',
      '      - 10.0.0.1:26379',
      '      - redis://:hidden@10.0.0.2',
      '  cluster:',
      '    - 10.0.0.3',
      '',
    ].join('\n'),
    says: [
      'gateway.yaml:3:3 live.url: must name no database: a cluster has none',
      'gateway.yaml:8:9 live.sentinel.nodes[1]: must be HOST:PORT, such as 127.0.0.1:26379 or [::1]:26379',
      'gateway.yaml:9:3 live.cluster: must not stand beside "sentinel": Redis is watched over by sentinels, or is a cluster',
      'gateway.yaml:10:7 live.cluster[0]: must be HOST:PORT, such as 127.0.0.1:26379 or [::1]:26379',
    ],
  },
  {
    wrong: 'state that is shared in a way that Redis does not know',
    text: 'pipeline: [{ use: auth }]\nlive: { url: redis://h, sentinel: { name: m }, clutser: [], tls: true }\n',
    says: [
      'gateway.yaml:2:25 live.sentinel.nodes: is required',
      'gateway.yaml:2:48 live.clutser: is not a known key; did you mean "cluster"?',
      'gateway.yaml:2:61 live.tls: is not a known key; known here: url, sentinel, cluster',
    ],
  },
  {
    wrong: 'a pattern that does not compile and a catalog that is not there',
    text: 'pipeline: [{ use: auth }]\nofficialClient: { userAgent: "(" }\nmodels: ./nowhere.yaml\n',
    says: [
      'gateway.yaml:2:19 officialClient.userAgent: must be a regular expression: Invalid regular expression: /(/: Unterminated group',
      'gateway.yaml:3:1 models: names nowhere.yaml, which cannot be read; omit it to use the catalog shipped with gw2api',
    ],
  },
];

describe('a broken config', () => {
  it('is none where a secret or a header ends in a line feed: that is cut off', async () => {
    const account = 'account: { kind: api-key, key: "key\\n" }';
    const text = `pipeline: [{ use: auth }]\nslots: [{ id: a, ${messagesSlot}, ${account}, headers: { x-a: " b\\n" } }]`;
    const { slots } = await loadWithSlots({ text, file: 'gateway.yaml', env: {} });
    const [slot] = slots;
    const { slots: loaded } = await loadSlots(slots, { baseDir: '.', builtins: builtinFolder });
    const { plugin, options } = loaded[0]!.account;
    const opened = await plugin.open(options, {} as AccountHost); // a key asks its host for nothing
    expect(await opened.authorize({} as OutgoingRequest)).to.deep.equal({ 'x-api-key': 'key' });
    expect(slot).to.deep.include({ headers: { 'x-a': 'b' } });
  });

  for (const { wrong, text, says, env } of broken) {
    it(`says what to do about ${wrong}`, async () => {
      const whole = text.includes('slots:') ? text : `${text}\nslots: [{ id: a, upstream: simulator }]`;
      const load = loadWithSlots({ text: whole, file: 'gateway.yaml', env: env ?? {} });
      expect(await linesOf(load)).to.deep.equal(says);
    });
  }
});

async function linesOf(load: Promise<unknown>): Promise<readonly string[]> {
  try {
    await load;
    return [];
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as ConfigError).message.split('\n');
  }
}

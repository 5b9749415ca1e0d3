/** A config whose tests need no upstream. */
export const config = `pipeline:
  - use: auth
  - use: body-limit
  - use: format-decode
  - use: persona-inject
    with: { text: '\${PERSONA:-Be brief.}' }
  - use: slot-pick
  - use: upstream-call
  - use: format-encode
slots:
  - { id: team-a, upstream: messages, baseUrl: https://upstream.example, account: { kind: api-key, key: '\${TEAM_A_KEY}' } }
store: sqlite:./data/gateway.db
`;

export const body = '{ model: sonnet-5, max_tokens: 50, messages: [{ role: user, content: Hello! }] }';

/** A file of tests, each of one request with these keys. */
export function testsOf(...requests: readonly string[]): string {
  const tests = requests.map(
    (keys, at) => `  - { name: test ${at}, requests: [{ post: /v1/messages, body: ${body}, ${keys} }] }\n`,
  );
  return `tests:\n${tests.join('')}`;
}

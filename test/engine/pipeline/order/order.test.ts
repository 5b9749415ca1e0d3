import { expect } from 'chai';
import { Workshop, list, moduleText, whole } from '../workshop.js';

describe('the order check', () => {
  let workshop: Workshop;
  before(async () => void (workshop = await Workshop.open()));
  after(() => workshop.close());

  const rules: readonly { rule: string; text: string; says: readonly string[] }[] = [
    { rule: 'lets the order of the reference config through', text: list(...whole), says: [] },
    {
      rule: 'says below which line a stage belongs',
      text: list(
        'auth',
        'body-limit',
        'format-decode',
        'usage-mask',
        'slot-pick',
        'upstream-call',
        'format-encode',
      ),
      says: [
        'gateway.yaml:5:5 pipeline[3] "usage-mask" needs "reply", which "upstream-call" provides only at line 7; move it below',
      ],
    },
    {
      rule: 'names the built-in that is missing, once',
      text: list(...whole.filter((name) => name !== 'upstream-call')),
      says: [
        'gateway.yaml:7:5 pipeline[5] "usage-mask" needs "reply", which no stage provides; add "- use: upstream-call" above it',
      ],
    },
    {
      rule: 'names the plugin that gives a key its first value, not one that replaces it',
      text: list('auth', 'body-limit', 'slot-pick', 'upstream-call', 'format-encode'),
      says: [
        'gateway.yaml:4:5 pipeline[2] "slot-pick" needs "request", which no stage provides; add "- use: format-decode" above it',
      ],
    },
    {
      rule: 'asks for a stage that is switched off before it asks for a new one',
      text: list(...whole.map((name) => (name === 'slot-pick' ? `${name}\n    enabled: false` : name))),
      says: [
        'gateway.yaml:8:5 pipeline[5] "upstream-call" needs "picker", which no stage provides; switch on "slot-pick" at line 6',
      ],
    },
    {
      rule: 'asks to move a stage up that is switched off below',
      text: list(
        'auth',
        'body-limit',
        'format-decode',
        'upstream-call',
        'format-encode',
        'slot-pick\n    enabled: false',
      ),
      says: [
        'gateway.yaml:5:5 pipeline[3] "upstream-call" needs "picker", which no stage provides; switch on "slot-pick" at line 7 and move it above',
      ],
    },
    {
      rule: 'refuses to intercept a call that has been made',
      text: list(...whole.slice(0, 6), './wraps.js', ...whole.slice(6)),
      says: [
        'gateway.yaml:8:5 pipeline[6] "wraps" intercepts the call of the model, which "upstream-call" at line 7 has made by then; move it above that line',
      ],
    },
    {
      rule: 'refuses to intercept without a call, and to write the list of those that do',
      text: list('./no-call.js', './pushes.js', ...whole),
      says: [
        'gateway.yaml:2:5 pipeline[0].use "./no-call.js" intercepts calls of the model, but generate is not among its operations',
        'gateway.yaml:3:5 pipeline[1].use "./pushes.js" provides "interceptors"; instead, set intercepts: true and let setup return intercept',
      ],
    },
    {
      rule: 'refuses to replace what another stage has used',
      text: list(
        'auth',
        'body-limit',
        'format-decode',
        'slot-pick',
        'upstream-call',
        'max-tokens',
        'format-encode',
      ),
      says: [
        'gateway.yaml:7:5 pipeline[5] "max-tokens" replaces "request", which "upstream-call" at line 6 has used by then; move it above that line',
      ],
    },
    {
      rule: 'refuses what provides a key once more, and says so once a stage',
      text: list(...whole.slice(0, 3), 'format-decode', ...whole.slice(3), 'format-encode'),
      says: [
        'gateway.yaml:5:5 pipeline[3] "format-decode" provides "request", which "format-decode" at line 4 already provides; keep one of them',
        'gateway.yaml:11:5 pipeline[9] "format-encode" provides "response", which "format-encode" at line 10 already provides; keep one of them',
      ],
    },
    {
      rule: 'wants a plugin that replaces a key to require it',
      text: list('auth', './own-auth.js', ...whole.slice(1)),
      says: [
        'gateway.yaml:3:5 pipeline[1] "own-auth" provides "caller", which "auth" at line 2 already provides; keep one of them, or let it require "caller" if it is meant to replace it',
      ],
    },
    {
      rule: 'lets stages share a key that are for different requests, or replace it for some or for all',
      text: list(
        './own-auth.js',
        'auth\n    when: { operation: [models, usage, route] }',
        'auth\n    when: { format: chat }',
        'body-limit',
        'format-decode',
        'max-tokens',
        ...whole.slice(3),
      ),
      says: [],
    },
    {
      rule: 'wants an answer at the end',
      text: list(...whole.slice(0, -1)),
      says: [
        'gateway.yaml:8:5 pipeline: must provide "response" for generate and count-tokens, which no stage provides; add "- use: format-encode" as the last stage',
      ],
    },
    {
      rule: 'wants requests without a stage of their own to have a caller',
      text: list('./own-auth.js', ...whole.slice(1)),
      says: [
        'gateway.yaml:9:5 pipeline: must provide "caller" for models, usage and route, which "own-auth" at line 2 provides only for other requests; let it handle these too',
      ],
    },
    {
      rule: 'says it once where nobody provides a caller',
      text: list(...whole.slice(1)),
      says: [
        'gateway.yaml:5:5 pipeline[3] "slot-pick" needs "caller", which no stage provides; add "- use: auth" above it',
      ],
    },
    {
      rule: 'lets a condition replace a key and not introduce it',
      text: list(
        'auth\n    when: { format: chat }',
        'body-limit',
        'format-decode',
        'max-tokens\n    when: { format: chat }',
        'slot-pick',
        'upstream-call',
        'format-encode',
      ),
      says: [
        'gateway.yaml:2:5 pipeline[0] "auth" is the first to provide "caller", which would be missing for requests that its "when" excludes; remove its "when"',
      ],
    },
    {
      rule: 'names what the stage that provides a key leaves out',
      text: list('auth\n    when: { operation: [generate, count-tokens] }', ...whole.slice(1)),
      says: [
        'gateway.yaml:10:5 pipeline: must provide "caller" for models, usage and route, which "auth" at line 2 provides only for other requests; let it handle these too',
      ],
    },
    {
      rule: 'wants what a condition asks about above it',
      text: list(
        './plain.js\n    when: { model: "sonnet-*" }',
        './plain.js\n    when: { caller: team-* }',
        ...whole,
      ),
      says: [
        'gateway.yaml:2:5 pipeline[0] "./plain.js" needs "request" for its when.model, which "format-decode" provides only at line 8; move it below',
        'gateway.yaml:4:5 pipeline[1] "./plain.js" needs "caller" for its when.caller, which "auth" provides only at line 6; move it below',
      ],
    },
    {
      rule: 'lets a condition on the model stand where only some requests have one',
      text: list(
        'auth',
        'body-limit',
        'format-decode',
        './plain.js\n    when: { model: x }',
        ...whole.slice(3),
      ),
      says: [],
    },
    {
      rule: 'names stages that no request passes',
      text: list(...whole.slice(0, 3), 'max-tokens\n    when: { operation: models }', ...whole.slice(4)),
      says: [
        'gateway.yaml:5:5 pipeline[3] "max-tokens" never runs: it is for generate requests, which its when.operation excludes',
      ],
    },
    {
      rule: 'names a plugin of nobody for a key of nobody',
      text: list('./painter.js', ...whole),
      says: [
        'gateway.yaml:2:5 pipeline[0] "painter" needs "colour", which no stage provides; add a plugin that does above it',
      ],
    },
    {
      rule: 'knows a mistyped key',
      text: list(...whole.slice(0, 3), './mistyped.js', ...whole.slice(3)),
      says: [
        'gateway.yaml:5:5 pipeline[3] "mistyped" needs "reqest", which no stage provides; did you mean "request"?',
        'gateway.yaml:5:5 pipeline[3] "mistyped" needs "formt", which no stage provides; did you mean "format"?',
      ],
    },
    {
      rule: 'says nothing of what a stage that cannot be loaded may provide',
      text: list('auth', 'body-limit', 'format-decod', 'slot-pick', 'upstream-call', 'format-encode'),
      says: [
        'gateway.yaml:4:5 pipeline[2].use "format-decod" is neither a built-in nor an installed npm package; did you mean "format-decode"?',
      ],
    },
    {
      rule: 'wants what conditions on deliveries, and on what a request is not, ask about above it',
      text: list(
        './plain.js\n    when: { stream: true }',
        './plain.js\n    when: { not: { caller: team-* } }',
        './plain.js\n    when: { header: { x-team: red }, sample: 10% }',
        ...whole,
      ),
      says: [
        'gateway.yaml:2:5 pipeline[0] "./plain.js" needs "delivery" for its when.stream, which "format-decode" provides only at line 10; move it below',
        'gateway.yaml:4:5 pipeline[1] "./plain.js" needs "caller" for its when.not.caller, which "auth" provides only at line 8; move it below',
      ],
    },
    {
      rule: 'lets a header, a delivery, a sample and an exclusion replace a key and not introduce it',
      text: list(
        'auth\n    when: { header: { x-team: red } }',
        'body-limit\n    when: { sample: 10% }',
        'format-decode',
        'max-tokens\n    when: { stream: true }',
        'slot-pick\n    when: { not: { format: chat } }',
        'upstream-call',
        'format-encode',
      ),
      says: [
        'gateway.yaml:2:5 pipeline[0] "auth" is the first to provide "caller", which would be missing for requests that its "when" excludes; remove its "when"',
        'gateway.yaml:4:5 pipeline[1] "body-limit" is the first to provide "body", which would be missing for requests that its "when" excludes; remove its "when"',
        'gateway.yaml:9:5 pipeline[4] "slot-pick" is the first to provide "picker", which would be missing for requests that its "when" excludes; remove its "when"',
      ],
    },
    {
      rule: 'names a stage whose exclusion leaves nothing',
      text: list(
        ...whole.slice(0, 4),
        'max-tokens\n    when: { not: { operation: generate } }',
        ...whole.slice(4),
      ),
      says: [
        'gateway.yaml:6:5 pipeline[4] "max-tokens" never runs: it is for generate requests, which its when.operation excludes',
      ],
    },
    {
      rule: 'lets alternatives introduce a key that all of them provide',
      text: oneOf('{ use: slot-pick, when: { caller: a } }', './own-pick.js'),
      says: [],
    },
    {
      rule: 'checks each alternative as if it stood there alone',
      text: oneOf(
        '{ use: ./painter.js, when: { caller: a } }',
        '{ use: usage-mask, when: { format: chat } }',
        'slot-pick',
      ),
      says: [
        'gateway.yaml:7:9 pipeline[4].oneOf[0] "painter" needs "colour", which no stage provides; add a plugin that does above it',
        'gateway.yaml:8:9 pipeline[4].oneOf[1] "usage-mask" needs "reply", which "upstream-call" provides only at line 10; move it below',
        'gateway.yaml:10:5 pipeline[5] "upstream-call" needs "picker" for generate, which "slot-pick" at line 9 provides and its alternative "painter" at line 7 does not; let every alternative provide it',
      ],
    },
    {
      rule: 'takes a seal for one where all alternatives have it',
      text: list(
        ...whole.slice(0, 3),
        `slot-pick\n  - oneOf:\n      - { use: upstream-call, when: { caller: a } }\n      - { use: upstream-call, name: other-call }`,
        'max-tokens',
        'format-encode',
      ),
      says: [
        'gateway.yaml:9:5 pipeline[5] "max-tokens" replaces "request", which "other-call" at line 8 has used by then; move it above that line',
      ],
    },
    {
      rule: 'wants an alternative for every request that one of them is for',
      text: oneOf('{ use: slot-pick, when: { caller: a } }', './chat-pick.js'),
      says: [
        'gateway.yaml:7:9 pipeline[4].oneOf[0] "slot-pick" is the first to provide "picker" for count-tokens, which would be missing for requests that no alternative takes; let the last alternative take these too',
      ],
    },
    {
      rule: 'leaves alternatives alone that their operations tell apart',
      text: oneOf('{ use: slot-pick, when: { operation: count-tokens } }', './chat-pick.js'),
      says: [],
    },
    {
      rule: 'says nothing more of alternatives whose last one is faulty',
      text: oneOf('{ use: slot-pick, when: { caller: a } }', '{ use: slot-pick, when: { caller: b } }'),
      says: [
        'gateway.yaml:8:27 pipeline[4].oneOf[1].when: must not be here; the last alternative takes all requests that the others do not',
      ],
    },
    {
      rule: 'names an entry by its own name',
      text: list('slot-pick\n    name: first-pick', ...whole),
      says: [
        'gateway.yaml:2:5 pipeline[0] "first-pick" needs "request", which "format-decode" provides only at line 6; move it below',
        'gateway.yaml:2:5 pipeline[0] "first-pick" needs "caller", which "auth" provides only at line 4; move it below',
        'gateway.yaml:8:5 pipeline[5] "slot-pick" provides "picker", which "first-pick" at line 2 already provides; keep one of them, or let it require "picker" if it is meant to replace it',
      ],
    },
    {
      rule: 'says all at once',
      text: list(
        'body-limit',
        'auth',
        'max-tokens',
        'format-decode',
        'upstream-call',
        'slot-pick',
        'persona-inject',
      ),
      says: [
        'gateway.yaml:4:5 pipeline[2] "max-tokens" needs "request", which "format-decode" provides only at line 5; move it below',
        'gateway.yaml:6:5 pipeline[4] "upstream-call" needs "picker", which "slot-pick" provides only at line 7; move it below',
        'gateway.yaml:8:5 pipeline[6] "persona-inject" replaces "request", which "upstream-call" at line 6 has used by then; move it above that line',
        'gateway.yaml:8:5 pipeline: must provide "response" for generate and count-tokens, which no stage provides; add "- use: format-encode" as the last stage',
      ],
    },
  ];

  before(async () => {
    await workshop.write(
      'own-auth.js',
      `export const x = 1; ${moduleText({ name: 'own-auth', provides: ['caller'], operations: ['generate', 'count-tokens'] })}`,
    );
    await workshop.write('plain.js', 'export default () => (ctx, next) => next();');
    await workshop.write('painter.js', moduleText({ name: 'painter', requires: ['colour'] }));
    await workshop.write('mistyped.js', moduleText({ name: 'mistyped', requires: ['reqest', 'formt'] }));
    const pick = { requires: ['request', 'caller'], provides: ['picker'] };
    const operations = ['generate', 'count-tokens'];
    await workshop.write('own-pick.js', moduleText({ name: 'own-pick', ...pick, operations }));
    await workshop.write('chat-pick.js', moduleText({ name: 'chat-pick', ...pick }));
    await workshop.write('wraps.js', moduleText({ name: 'wraps', intercepts: true }));
    await workshop.write(
      'no-call.js',
      moduleText({ name: 'no-call', intercepts: true, operations: ['count-tokens'] }),
    );
    await workshop.write('pushes.js', moduleText({ name: 'pushes', provides: ['interceptors'] }));
    await workshop.write('package.json', '{"type":"module"}');
  });

  for (const { rule, text, says } of rules)
    it(rule, async () => {
      expect(await workshop.problems(text)).to.deep.equal(says);
    });
});

/** A pipeline that has alternatives in place of slot-pick, from line 7 on. */
function oneOf(...alternatives: readonly string[]): string {
  const lines = alternatives.map((one) => `\n      - ${one.startsWith('{') ? one : `use: ${one}`}`);
  return list(...whole.slice(0, 3), `max-tokens\n  - oneOf:${lines.join('')}`, ...whole.slice(5));
}

import type { RemoteCheck } from '../check.js';
import { answerQuestion, eventsQuestion, requestQuestion } from '../questions.js';
import { textAnswer } from '../samples.js';

/** Checks of versions, and of messages that are not questions. */
export const versionChecks: readonly RemoteCheck[] = [
  {
    name: 'later-fields',
    rule: 'ignores fields that a later version adds',
    async run(server) {
      const later = { later_field: { a: [1] } };
      const request = { ...requestQuestion().request, ...later };
      await server.ask({ ...requestQuestion({ request }), ...later });
      await server.ask({ ...answerQuestion(), ...later });
      await server.ask({ ...eventsQuestion({ events: [...textAnswer(['Hi.'])] }), ...later });
    },
  },
  {
    name: 'unknown-version',
    rule: 'refuses a version other than 1',
    run: (server) => server.refuses({ body: JSON.stringify({ ...requestQuestion(), version: 2 }) }),
  },
  {
    name: 'unknown-phase',
    rule: 'refuses a phase that it does not know',
    run: (server) => server.refuses({ body: JSON.stringify({ ...requestQuestion(), phase: 'later' }) }),
  },
  {
    name: 'broken-json',
    rule: 'refuses a body that is not JSON',
    run: (server) => server.refuses({ body: JSON.stringify(requestQuestion()).slice(0, -1) }),
  },
  {
    name: 'empty-body',
    rule: 'refuses an empty body',
    run: (server) => server.refuses({ body: '' }),
  },
];

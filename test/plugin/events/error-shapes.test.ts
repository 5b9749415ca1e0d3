import { expect } from 'chai';
import { errorFields, isErrorBody } from '#src/plugin/events/error-shapes.js';

describe('the words of an error', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ error: { message: 'Bad.' } }, 'Bad.'],
    [{ error: 'Bad.' }, 'Bad.'],
    [{ error: 'Bad Request', message: 'Name a model.' }, 'Name a model.'],
    [[{ error: { code: 400, message: 'Bad.' } }], 'Bad.'],
    [{ detail: 'Bad.' }, 'Bad.'],
    [{ detail: { message: 'Bad.' } }, 'Bad.'],
    [{ detail: { error: { message: 'Bad.' } } }, 'Bad.'],
    [
      {
        detail: [
          { loc: ['body', 'top_p'], msg: 'too large' },
          { loc: ['body', 'n'], msg: 'no' },
        ],
      },
      'body.top_p: too large; body.n: no',
    ],
    [{ object: 'error', message: { detail: [{ loc: ['body', 0], msg: 'missing' }] } }, 'body.0: missing'],
    [{ object: 'error', message: { detail: [{ loc: [], msg: 'Bad.' }] } }, 'Bad.'],
    [{ object: 'error', message: 'Bad.', code: 400 }, 'Bad.'],
    [{ Message: 'User is not authorized.' }, 'User is not authorized.'],
    [{ errors: [{ message: 'Bad.', code: 7003 }], success: false }, 'Bad.'],
    [{ errors: ['Bad.', 'Worse.'] }, 'Bad.; Worse.'],
    [{ error: {}, message: 'Bad.' }, 'Bad.'],
    [{ error: { detail: [{ msg: 'Bad.' }] } }, 'Bad.'],
  ];
  for (const [body, words] of cases) {
    it(`are found in ${JSON.stringify(body)}`, () => {
      expect(errorFields(body)).to.have.property('message', words);
    });
  }

  it('are none where a body has none', () => {
    for (const body of [{}, [], null, 7, { error: {} }, { detail: [] }])
      expect(errorFields(body)).not.to.have.property('message');
  });

  it('end in a body that is nested without end', () => {
    const body: { error?: unknown } = {};
    body.error = body;
    expect(errorFields(body)).not.to.have.property('message');
  });
});

describe('a body', () => {
  it('is an error by what it holds, not by its status', () => {
    const errors = [{ error: 'x' }, { error: {} }, { errors: [1] }, { object: 'error' }, { type: 'error' }];
    expect(errors.map(isErrorBody)).to.deep.equal(errors.map(() => true));
    const others = [{}, { error: null }, { errors: [] }, { choices: [] }];
    expect(others.map(isErrorBody)).to.deep.equal(others.map(() => false));
  });
});

import { expect } from 'chai';
import type Koa from 'koa';
import { RequestTrace } from '#src/engine/trace/request-trace.js';
import { composeStages } from '#src/engine/pipeline/run/traced.js';

type Middleware = (ctx: { state: object }, next: () => Promise<void>) => unknown;

describe('the composed stages', () => {
  it('passes each stage around those below it', async () => {
    const trail: string[] = [];
    const note = (name: string): Middleware => {
      return async (_, next) => {
        trail.push(name);
        await next();
        trail.push(`${name} again`);
      };
    };
    await send({ a: note('a'), b: note('b') }, async () => void trail.push('end'));
    expect(trail).to.deep.equal(['a', 'b', 'end', 'b again', 'a again']);
  });

  it('refuses a second next', async () => {
    const twice: Middleware = async (_, next) => {
      await next();
      await next();
    };
    const { error } = await send({ twice });
    expect(error).to.be.an('error').with.property('message', 'next() called multiple times');
  });

  it('tells which stage has thrown first, also where it is no async function', async () => {
    const fault = new Error('Mine.');
    const pass: Middleware = (_, next) => next();
    const fail: Middleware = () => {
      throw fault;
    };
    const { error, trace } = await send({ pass, fail });
    expect(error).to.equal(fault);
    expect(trace.blamed(fault)).to.deep.equal({ stage: 'fail', path: 'pipeline[1]', at: 'gateway.yaml:1:5' });
  });

  it('tells which stage has ended the request', async () => {
    const { trace } = await send({ pass: (_, next) => next(), answer: async () => undefined });
    expect(trace.endedBy).to.include({ stage: 'answer', path: 'pipeline[1]' });
  });

  it('tells that a stage has ended it which has nothing below it, also where that is the end itself', async () => {
    const { trace } = await send({ pass: (_, next) => next() });
    expect(trace.endedBy).to.include({ stage: 'pass', path: 'pipeline[0]' });
  });

  it('gives the time of those above to none that is through already', async () => {
    const { trace } = await send({
      outer: async (_, next) => {
        await next();
        busy(20);
      },
      through: (_, next) => next(),
      inner: async (_, next) => next(),
    });
    const [outer, through] = trace.stages;
    expect(outer!.ms).to.be.at.least(20);
    expect(through!.ms).to.be.below(20);
  });

  it('times each stage before and after what is below it, and not that', async () => {
    const begunMs = performance.now();
    const { trace } = await send({
      outer: async (_, next) => {
        busy(3);
        await next();
        busy(3);
      },
      inner: (_, next) => {
        busy(20);
        return next();
      },
    });
    const [outer, inner] = trace.stages;
    expect(trace.stages.map(({ stage }) => stage)).to.deep.equal(['outer', 'inner']);
    expect(outer!.ms).to.be.at.least(6);
    expect(inner!.ms).to.be.at.least(20);
    expect(outer!.ms + inner!.ms, 'no time counts twice').to.be.at.most(performance.now() - begunMs + 0.01);
  });
});

/** Sends one request through stages of these names. */
async function send(stages: Readonly<Record<string, Middleware>>, end: Koa.Next = async () => undefined) {
  const composed = Object.entries(stages).map(([stage, middleware], at) => ({
    place: { stage, path: `pipeline[${at}]`, at: `gateway.yaml:${at}:5` },
    middleware: middleware as unknown as Koa.Middleware, // they look at nothing but the state
    takes: undefined,
  }));
  const trace = new RequestTrace(Date.now);
  const ctx = { state: { trace } } as unknown as Parameters<Koa.Middleware>[0]; // nothing else is looked at
  const error: unknown = await composeStages(composed)(ctx, end).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { trace, error };
}

function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

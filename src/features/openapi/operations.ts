import { Type } from '../../plugin/index.js';
import type { DescribedRoute } from './schema.js';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });

const Health = Type.Object({
  status: Type.Enum(['ok', 'degraded', 'not_ready', 'shutting_down']),
  name: Text,
  version: Text,
  uptime_seconds: Count,
  limits: Type.Object({
    max_body_bytes: Type.Optional(Count),
    max_tokens: Type.Optional(Count),
    cache_ttl_seconds: Type.Optional(Count),
  }),
  slots: Type.Object({ total: Count, schedulable: Count }),
  store: Type.Object({ ok: Type.Boolean() }),
  live: Type.Object({ ok: Type.Boolean() }),
});

const health = ['/', '/health', '/v1/meta'].map((path): DescribedRoute => ({
  method: 'GET',
  path,
  tag: 'health',
  access: 'open',
  summary: 'Liveness and limits; with `ready=1` (or `true`) it is 503 where no request can be served.',
  query: Type.Object({ ready: Type.Optional(Type.Enum(['1', 'true', '0', 'false'])) }),
  answers: { 200: Health, 503: Health },
}));

/** Routes of health, metrics and this document. */
export const operationRoutes: readonly DescribedRoute[] = [
  ...health,
  {
    method: 'GET',
    path: '/metrics',
    tag: 'health',
    access: 'admin',
    scope: 'metrics',
    summary: 'Prometheus metrics.',
    answers: { 200: Text },
    answerTypes: ['text/plain'],
  },
  {
    method: 'GET',
    path: '/openapi.json',
    tag: 'health',
    access: 'open',
    summary: 'This document.',
    answers: { 200: Type.Record(Text, Type.Unknown()) },
  },
];

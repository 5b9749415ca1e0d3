import type { TProperties } from 'typebox';
import { Type } from '../plugin/internal.js';
import { ExplainBody } from '../admin/explain-call.js';
import { CanaryPercent, CanaryStatus } from '../admin/canary-report.js';
import { CanaryStarted, DiagnosisReport, ReloadReport, SlotReport } from '../admin/reports.js';
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
  summary: 'Liveness and limits; with `ready=1` it is 503 where no request can be served.',
  query: Type.Object({ ready: Type.Optional(Type.Enum(['0', '1'])) }),
  answers: { 200: Health, 503: Health },
}));

const slotVerbs = ['pause', 'resume', 'drain'].map((verb): DescribedRoute => ({
  method: 'POST',
  path: `/admin/slots/:id/${verb}`,
  tag: 'admin',
  access: 'master',
  summary: `Has a slot ${verb}.`,
  answers: { 200: SlotReport },
}));

/** Routes of health, metrics and `/admin/*`. */
export const operationRoutes: readonly DescribedRoute[] = [
  ...health,
  {
    method: 'GET',
    path: '/metrics',
    tag: 'health',
    access: 'master',
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
  {
    method: 'GET',
    path: '/admin/slots',
    tag: 'admin',
    access: 'master',
    summary: 'All slots.',
    answers: { 200: listOf(SlotReport) },
  },
  ...slotVerbs,
  {
    method: 'POST',
    path: '/admin/slots/:id/diagnose',
    tag: 'admin',
    access: 'master',
    summary:
      "Resolves the upstream's name, calls it over the slot's own way out, and has its credential checked.",
    answers: { 200: DiagnosisReport },
  },
  {
    method: 'POST',
    path: '/admin/reload',
    tag: 'admin',
    access: 'master',
    query: Type.Object({
      tests: Type.Optional(Type.Literal('skip', { description: 'Do not run the tests of the config.' })),
      canary: Type.Optional(CanaryPercent),
    }),
    summary: 'Reads the config again; with `canary` for a share of the new sessions at first.',
    answers: { 200: Type.Union([ReloadReport, CanaryStarted]) },
  },
  {
    method: 'GET',
    path: '/admin/reload',
    tag: 'admin',
    access: 'master',
    summary: 'The canary that runs, or else the last one, with the figures of both sides.',
    answers: { 200: CanaryStatus },
  },
  {
    method: 'POST',
    path: '/admin/reload/commit',
    tag: 'admin',
    access: 'master',
    summary: "Takes the canary's config for all requests.",
    answers: { 200: ReloadReport },
  },
  {
    method: 'POST',
    path: '/admin/reload/cancel',
    tag: 'admin',
    access: 'master',
    summary: 'Ends the canary; the config in force stays.',
    answers: { 200: CanaryStatus },
  },
  {
    method: 'POST',
    path: '/admin/explain',
    tag: 'admin',
    access: 'master',
    summary:
      'Says how a request would be handled now: its stages, the slots considered, what would go out and what its caller would be told. Asks no upstream, and spends no limit.',
    body: ExplainBody,
    answers: { 200: Type.Record(Text, Type.Unknown()) },
  },
  {
    method: 'GET',
    path: '/admin/explain/:id',
    tag: 'admin',
    access: 'master',
    summary:
      'What was recorded of a request, by its request id or its ledger id: stages, times, slots, codes.',
    answers: { 200: Type.Record(Text, Type.Unknown()) },
  },
  {
    method: 'GET',
    path: '/admin/pipeline',
    tag: 'admin',
    access: 'master',
    summary: 'The stages as they run, secrets blanked, and what operators should know of them.',
    answers: { 200: listOf(Type.Record(Text, Type.Unknown()), { notices: Type.Array(Text) }) },
  },
  {
    method: 'GET',
    path: '/admin/config',
    tag: 'admin',
    access: 'master',
    summary: 'The config as its file has it, secrets blanked.',
    answers: { 200: Type.Record(Text, Type.Unknown()) },
  },
];

function listOf(item: object, beside: TProperties = {}) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(Type.Unsafe(item)), ...beside });
}

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { eventually } from '../../eventually.js';
import { exportIn } from './protobuf-export.js';

type Value = string | number | boolean | readonly Value[];

/** A span as a collector gets it, with its attributes by name. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  /** Unix nanoseconds. */
  readonly beganNs: bigint;
  readonly endedNs: bigint;
  /** 0: unset, 2: error. */
  readonly status: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly resource: Readonly<Record<string, Value>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Paths that were posted to. */
  readonly paths: readonly (string | undefined)[];
  /** Resolves once there are so many spans of this kind. */
  spansOf(kind: number, count: number): Promise<readonly CollectedSpan[]>;
  /** Status of the answers; default 200. */
  status: number;
  close(): Promise<void>;
}

/** A value as JSON has it. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

export type KeyValues = readonly { readonly key: string; readonly value: AnyValue }[];

/** An export as JSON has it. */
export interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number };
  readonly attributes: KeyValues;
}

const json = 'application/json';

/** Starts a collector of OTLP on a free port, in JSON or protobuf, also of gzip. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const paths: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => void chunks.push(chunk));
    req.on('end', () => {
      paths.push(req.url);
      headers.push(req.headers);
      if (collector.status === 200) spans.push(...spansIn(exportOf(Buffer.concat(chunks), req.headers)));
      const type = req.headers['content-type'];
      res.writeHead(collector.status, { 'content-type': type }).end(type === json ? '{}' : '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    paths,
    status: 200,
    async spansOf(kind, count) {
      const found = () => spans.filter((span) => span.kind === kind);
      await eventually(() => found().length >= count);
      return found();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

function exportOf(body: Buffer, headers: IncomingHttpHeaders): Export {
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  if (headers['content-type'] === 'application/x-protobuf') return exportIn(bytes);
  return JSON.parse(bytes.toString()) as Export;
}

function spansIn({ resourceSpans }: Export): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        traceState: span.traceState,
        name: span.name,
        kind: span.kind,
        beganNs: BigInt(span.startTimeUnixNano),
        endedNs: BigInt(span.endTimeUnixNano),
        status: span.status?.code ?? 0,
        attributes: named(span.attributes),
        resource: named(resource.attributes),
      })),
    ),
  );
}

function named(attributes: KeyValues): Readonly<Record<string, Value>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: AnyValue): Value {
  if (arrayValue) return arrayValue.values.map(valueOf);
  if (intValue !== undefined) return Number(intValue);
  return stringValue ?? doubleValue ?? boolValue ?? '';
}

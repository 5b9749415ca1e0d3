import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import {
  createOtlpNetworkExportDelegate,
  ExporterMetrics,
  type IExporterTransport,
} from '@opentelemetry/otlp-exporter-base';
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
  type IExportTraceServiceResponse,
  type ISerializer,
} from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { ExportSettings } from '../../config/sections/telemetry.js';
import { isRecord } from '../../kit/schema/record.js';
import { cut } from './attributes.js';

interface SenderOptions extends Pick<ExportSettings, 'protocol' | 'timeoutMs'> {
  readonly transport: IExporterTransport;
  /** Notified of spans that the collector has not accepted. */
  readonly onLost: (spans: number, error: unknown) => void;
}

/** Sender of spans, one batch at a time; it resolves when the batch is accepted or lost. */
export function spanSender({ protocol, timeoutMs, transport, onLost }: SenderOptions) {
  const serializer = new TraceSerializer(serializers[protocol], onLost);
  // One batch is sent at a time, and the transport compresses it.
  const settings = { timeoutMillis: timeoutMs, concurrencyLimit: Infinity, compression: 'none' } as const;
  const delegate = createOtlpNetworkExportDelegate(settings, serializer, noMetrics(), transport);
  return async function sendSpans(spans: ReadableSpan[]): Promise<void> {
    try {
      const result = new Promise<ExportResult>((resolve) => delegate.export(spans, resolve));
      const { code, error } = await result;
      if (code === ExportResultCode.FAILED) onLost(spans.length, error);
    } catch (error) {
      onLost(spans.length, error);
    }
  };
}

/** Unused metrics, which a delegate requires. */
function noMetrics() {
  return new ExporterMetrics<ReadableSpan[]>({
    componentType: 'otlp_http_span_exporter',
    metricsHelper: TraceExporterMetricsHelper,
    url: undefined,
    meterProvider: undefined,
    responseAttributesFromError: () => ({}),
  });
}

type Serializer = ISerializer<ReadableSpan[], IExportTraceServiceResponse>;

const serializers: Readonly<Record<ExportSettings['protocol'], Serializer>> = {
  'http/json': {
    ...JsonTraceSerializer,
    deserializeResponse: (data) => JSON.parse(Buffer.from(data).toString()) as object, // its own warns by `diag`
  },
  'http/protobuf': ProtobufTraceSerializer,
};

/** Serializer that reports the spans that a collector rejects from an accepted batch. */
class TraceSerializer implements Serializer {
  readonly #serializer: Serializer;
  readonly #onLost: SenderOptions['onLost'];
  /** Spans of the current export. */
  #spans = 0;

  constructor(serializer: Serializer, onLost: SenderOptions['onLost']) {
    this.#serializer = serializer;
    this.#onLost = onLost;
  }

  serializeRequest(spans: ReadableSpan[]): Uint8Array | undefined {
    this.#spans = spans.length;
    return this.#serializer.serializeRequest(spans);
  }

  deserializeResponse(data: Uint8Array): IExportTraceServiceResponse {
    const { rejectedSpans, errorMessage } = this.#partialSuccessIn(data);
    const refused = Math.min(Number(rejectedSpans), this.#spans);
    if (refused > 0) {
      const reason = typeof errorMessage === 'string' && errorMessage !== '' ? `: ${cut(errorMessage)}` : '.';
      this.#onLost(refused, new Error(`The collector refused spans${reason}`));
    }
    return {}; // a message of the collector would be logged to `diag`
  }

  /** Part of an answer about rejected spans; empty for any other answer, whose status is sufficient. */
  #partialSuccessIn(data: Uint8Array): Readonly<Record<string, unknown>> {
    try {
      const answer: unknown = this.#serializer.deserializeResponse(data);
      return isRecord(answer) && isRecord(answer['partialSuccess']) ? answer['partialSuccess'] : {};
    } catch {
      return {};
    }
  }
}

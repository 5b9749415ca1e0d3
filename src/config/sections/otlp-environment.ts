import { isRequestHeader } from '../../plugin/core.js';
import type { Environment } from '../environment.js';

export const protocols = ['http/json', 'http/protobuf'] as const;
export const compressions = ['gzip', 'none'] as const;

/** Address of a collector. */
export interface OtlpEndpoint {
  readonly url: string;
  /** True: the path is complete; else `/v1/traces` is appended. */
  readonly isExact: boolean;
}

/** Settings of exports in the environment, as OpenTelemetry names them; absent where unset or unusable. */
export interface OtlpEnvironment {
  readonly endpoint?: OtlpEndpoint;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol?: (typeof protocols)[number];
  readonly compression?: (typeof compressions)[number];
  readonly timeoutMs?: number;
  /** Names of variables with an unusable value. */
  readonly unusable: readonly string[];
}

/** Reads `OTEL_EXPORTER_OTLP_*`; those of traces override the general ones, and headers of both are sent. */
export function otlpEnvironment(env: Environment): OtlpEnvironment {
  const unusable: string[] = [];
  const read = <Value>(name: string, parse: (text: string) => Value | undefined): Value | undefined => {
    const text = env[name]?.trim();
    if (!text) return undefined;
    const value = parse(text);
    if (value === undefined) unusable.push(name);
    return value;
  };
  const either = <Value>(name: string, parse: (text: string) => Value | undefined) =>
    read(`${tracesPrefix}${name}`, parse) ?? read(`${prefix}${name}`, parse);
  const endpoint =
    read(`${tracesPrefix}ENDPOINT`, (url) => addressIn({ url, isExact: true })) ??
    read(`${prefix}ENDPOINT`, (url) => addressIn({ url, isExact: false }));
  const protocol = either('PROTOCOL', (text) => protocols.find((known) => known === text));
  const compression = either('COMPRESSION', (text) => compressions.find((known) => known === text));
  const timeoutMs = either('TIMEOUT', milliseconds);
  return {
    ...(endpoint !== undefined && { endpoint }),
    headers: { ...read(`${prefix}HEADERS`, headersIn), ...read(`${tracesPrefix}HEADERS`, headersIn) },
    ...(protocol !== undefined && { protocol }),
    ...(compression !== undefined && { compression }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    unusable,
  };
}

const prefix = 'OTEL_EXPORTER_OTLP_';
const tracesPrefix = 'OTEL_EXPORTER_OTLP_TRACES_';

/** True for the address of a collector. */
export function isOtlpAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

function addressIn(endpoint: OtlpEndpoint): OtlpEndpoint | undefined {
  return isOtlpAddress(endpoint.url) ? endpoint : undefined;
}

function milliseconds(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

/** Headers by their names in lower case, of `name=value,name=value` with percent-encoded values; undefined if one is invalid. */
function headersIn(text: string): Readonly<Record<string, string>> | undefined {
  const headers = new Map<string, string>();
  for (const entry of text.split(',').filter((part) => part.trim() !== '')) {
    const at = entry.indexOf('=');
    const name = entry.slice(0, Math.max(0, at)).trim().toLowerCase();
    const value = decoded(entry.slice(at + 1).trim());
    if (!isRequestHeader(name, value)) return undefined;
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/** Text without its percent-encoding; unchanged if that is invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

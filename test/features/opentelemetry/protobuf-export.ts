import type { AnyValue, Export, ExportedSpan, KeyValues } from './collector.js';

/** Fields of a protobuf message by their numbers: varints as bigint, all others as bytes. */
class Message {
  readonly #fields = new Map<number, (bigint | Buffer)[]>();

  constructor(bytes: Buffer) {
    for (let at = 0; at < bytes.length;) {
      const tag = varintAt(bytes, at);
      const { value, end } = fieldAt(bytes, tag.end, Number(tag.value & 7n));
      const number = Number(tag.value >> 3n);
      this.#fields.set(number, [...(this.#fields.get(number) ?? []), value]);
      at = end;
    }
  }

  all(number: number): readonly Buffer[] {
    return (this.#fields.get(number) ?? []) as Buffer[]; // of a field that is no varint
  }

  messages(number: number): readonly Message[] {
    return this.all(number).map((bytes) => new Message(bytes));
  }

  varint(number: number): bigint | undefined {
    return this.#fields.get(number)?.[0] as bigint | undefined; // of a field that is one
  }

  hex(number: number): string | undefined {
    return this.all(number)[0]?.toString('hex');
  }

  text(number: number): string | undefined {
    return this.all(number)[0]?.toString();
  }
}

function varintAt(bytes: Buffer, at: number): { value: bigint; end: number } {
  let value = 0n;
  let end = at;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = bytes[end]!;
    end += 1;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { value, end };
}

function fieldAt(bytes: Buffer, at: number, wireType: number): { value: bigint | Buffer; end: number } {
  if (wireType === 0) return varintAt(bytes, at);
  const length = { 1: 8n, 5: 4n }[wireType];
  const { value, end } = length === undefined ? varintAt(bytes, at) : { value: length, end: at };
  const next = end + Number(value);
  if (next > bytes.length) throw new RangeError('The message ends within a field.');
  return { value: bytes.subarray(end, next), end: next };
}

/** Export in protobuf as the same in JSON has it (opentelemetry/proto/trace/v1/trace.proto). */
export function exportIn(bytes: Buffer): Export {
  return {
    resourceSpans: new Message(bytes).messages(1).map((of) => ({
      resource: { attributes: attributesIn(of.messages(1)[0]!, 1) },
      scopeSpans: of.messages(2).map((scope) => ({ spans: scope.messages(2).map(spanIn) })),
    })),
  };
}

function spanIn(span: Message): ExportedSpan {
  const [parentSpanId, traceState, status] = [span.hex(4), span.text(3), span.messages(15)[0]];
  return {
    traceId: span.hex(1)!,
    spanId: span.hex(2)!,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...(traceState !== undefined && { traceState }),
    name: span.text(5)!,
    kind: Number(span.varint(6)),
    startTimeUnixNano: String(span.all(7)[0]!.readBigUInt64LE()),
    endTimeUnixNano: String(span.all(8)[0]!.readBigUInt64LE()),
    ...(status && { status: { code: Number(status.varint(3) ?? 0n) } }),
    attributes: attributesIn(span, 9),
  };
}

function attributesIn(message: Message, number: number): KeyValues {
  return message
    .messages(number)
    .map((pair) => ({ key: pair.text(1)!, value: valueIn(pair.messages(2)[0]!) }));
}

function valueIn(value: Message): AnyValue {
  const [bool, int, double, list] = [value.varint(2), value.varint(3), value.all(4)[0], value.messages(5)[0]];
  if (bool !== undefined) return { boolValue: bool === 1n };
  if (int !== undefined) return { intValue: String(BigInt.asIntN(64, int)) };
  if (double) return { doubleValue: double.readDoubleLE() };
  if (list) return { arrayValue: { values: list.messages(1).map(valueIn) } };
  return { stringValue: value.text(1) ?? '' };
}

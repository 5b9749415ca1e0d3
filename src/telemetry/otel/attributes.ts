export type AttributeValue = string | number | boolean | readonly string[];

/** Value as OTLP writes it in JSON. */
type OtlpValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number | string }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

/** Attribute of a span or a resource, as OTLP writes it in JSON. */
export interface Attribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** Attributes of named values, in their order; undefined ones are left out. */
export function attributesOf(
  values: Readonly<Record<string, AttributeValue | undefined>>,
): readonly Attribute[] {
  const attributes: Attribute[] = [];
  for (const key in values) {
    const value = values[key];
    if (value !== undefined) attributes.push({ key, value: otlpValue(value) });
  }
  return attributes;
}

/** Value with texts of at most 500 characters, which every collector takes. */
export function otlpValue(value: AttributeValue): OtlpValue {
  if (typeof value === 'string') return { stringValue: cut(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return otlpNumber(value);
  return { arrayValue: { values: value.map((each) => ({ stringValue: cut(each) })) } };
}

/** Integer as text, as int64 is written; one beyond int64, or a text of infinity, would be no number to a collector. */
function otlpNumber(value: number): OtlpValue {
  if (Number.isSafeInteger(value)) return { intValue: value.toFixed() };
  return { doubleValue: Number.isFinite(value) ? value : String(value) };
}

/** Text of at most 500 characters. */
export function cut(text: string): string {
  return text.slice(0, 500).toWellFormed(); // half a pair is no UTF-8
}

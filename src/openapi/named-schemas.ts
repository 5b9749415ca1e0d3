import { SlotReport } from '../admin/slot-report.js';
import { IssuedKey, KeyReport } from '../console/api/key-report.js';
import { RequestDetail, RequestReport, Tokens, UsageBucket } from '../console/api/schemas.js';
import { PanelSlotReport } from '../console/api/slot-report.js';
import { plainSchema, type SchemaNames } from './schema.js';

/** Schemas with a name: described once in the document, referred to by answers. */
export const schemaNames: SchemaNames = new Map<object, string>([
  [SlotReport, 'Slot'],
  [PanelSlotReport, 'PanelSlot'],
  [KeyReport, 'Key'],
  [IssuedKey, 'IssuedKey'],
  [RequestReport, 'Request'],
  [RequestDetail, 'RequestDetail'],
  [UsageBucket, 'UsageBucket'],
  [Tokens, 'Tokens'],
]);

/** The named schemas by name. */
export function namedSchemas(): Readonly<Record<string, unknown>> {
  const entries = [...schemaNames].map(([schema, name]) => [name, plainSchema(schema, schemaNames)] as const);
  return Object.fromEntries(entries);
}

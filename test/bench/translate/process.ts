import { replies, requests, type Translation } from '../../plugins/formats/sized.js';

/** Translates inputs of several sizes (`GW_BENCH_SIZES`, bytes), and tells its parent what each took. */
const sizes = (process.env['GW_BENCH_SIZES'] ?? '').split(',').map(Number);

/** One translation: CPU nanoseconds a byte, in the order of the sizes. */
export interface Translated {
  readonly name: string;
  readonly nanosPerByte: readonly number[];
}

const rows: Translated[] = [];
for (const translation of [...requests, ...replies]) rows.push(await measured(translation));
process.send?.({ rows });

async function measured(translation: Translation): Promise<Translated> {
  await nanosPerByte(translation, Math.min(...sizes)); // so that its code is what it will be
  const nanos: number[] = [];
  for (const bytes of sizes) nanos.push(await nanosPerByte(translation, bytes));
  return { name: translation.name, nanosPerByte: nanos };
}

async function nanosPerByte(translation: Translation, bytes: number): Promise<number> {
  const translate = translation.prepare(bytes);
  const before = process.cpuUsage();
  await translate();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / bytes;
}

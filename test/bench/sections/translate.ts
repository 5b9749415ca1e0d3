import { nextMessage } from '../measure/lab.js';
import { table } from '../report/table.js';
import type { Translated } from '../translate/process.js';
import type { Section, Setting } from './section.js';

/** CPU time of translations by the size of their input: the same for each byte if they are linear. */
export const translate: Section = {
  name: 'translate',
  title: 'CPU nanoseconds a byte of the translations between formats, from inputs in the smallest parts',
  weight: 3,
  isLong: true,
  run: measure,
};

const mb = 1024 * 1024;
const sizes = [0.25, 1, 4, 16];
const quickSizes = [0.25, 0.5, 1, 2];

async function measure({ lab, isQuick }: Setting) {
  const used = isQuick ? quickSizes : sizes;
  const bytes = used.map((size) => size * mb);
  const child = await lab.fork('test/bench/translate/process.js', { GW_BENCH_SIZES: bytes.join(',') });
  const [{ rows }] = (await nextMessage(child)) as [{ rows: readonly Translated[] }]; // what it sends
  const cells = rows.map(({ name, nanosPerByte }) => [
    name,
    ...nanosPerByte.map((nanos) => nanos.toFixed(1)),
    ((nanosPerByte.at(-1) ?? NaN) / (nanosPerByte.at(0) ?? NaN)).toFixed(2),
  ]);
  const header = ['what', ...used.map((size) => `${size} MB`), 'last of first'];
  return { text: table(header, cells), rows };
}

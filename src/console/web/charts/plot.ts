import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartData, Pointed } from './chart-data.js';

interface PlotOptions {
  readonly data: ChartData;
  /** Element that the chart is drawn into, and whose CSS custom properties give the colours. */
  readonly host: HTMLElement;
  readonly formatValue: (value: number) => string;
  readonly formatTime: (at: Date) => string;
  readonly onPoint: (pointed: Pointed | null) => void;
}

export interface Plot {
  resize(): void;
  destroy(): void;
}

const height = 210;

/** Draws a chart into `host`: stacked bars for counts, lines for averages. */
export function drawPlot({ data, host, formatValue, formatTime, onPoint }: PlotOptions): Plot {
  const colour = (name: string) => getComputedStyle(host).getPropertyValue(name).trim();
  const axis = { stroke: colour('--text-3'), font: '11px system-ui, sans-serif', ticks: { show: false } };
  const grid = { stroke: colour('--line'), width: 1 };
  const { values, series } = data.kind === 'bars' ? barsOf(data, colour) : linesOf(data, colour);
  const half = data.stepSeconds / 2;
  const timeWidth = longest(data.times.map((at) => formatTime(new Date(at * 1000)))) * axisCharacterWidth;
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height,
      padding: [10, Math.ceil(timeWidth / 2), 0, 0], // room for half of the last label
      legend: { show: false },
      cursor: {
        sync: { key: 'overview' },
        points: { show: data.kind === 'lines' },
        drag: { x: false, y: false },
        y: false,
      },
      scales: { x: { range: (_, min, max) => [min - half, max + half] }, y: { range: yRange } },
      axes: [
        {
          ...axis,
          size: 26,
          space: timeWidth + 16,
          grid: { show: false },
          values: (_, ticks) => withoutRepeats(ticks.map((at) => formatTime(new Date(at * 1000)))),
        },
        {
          ...axis,
          grid,
          size: (_, labels) => Math.max(52, longest(labels) * axisCharacterWidth),
          ...(data.kind === 'bars' && !data.hasFractions && { incrs: wholeSteps }),
          values: (_, ticks) => ticks.map(formatValue),
        },
      ],
      series: [{}, ...series],
      hooks: { setCursor: [(chart) => onPoint(pointedAt(chart))] },
    },
    [data.times.map(Number), ...values],
    host,
  );
  return {
    resize: () => plot.setSize({ width: host.clientWidth, height }),
    destroy: () => plot.destroy(),
  };
}

/** Labels of which each is written once: several ticks may be in one day. */
function withoutRepeats(labels: readonly string[]): string[] {
  return labels.map((label, at) => (label === labels[at - 1] ? '' : label));
}

/** Max width of a character in the axis font, in pixels. */
const axisCharacterWidth = 7;

/** Length of the longest label; 0 before the first drawing, when there are none. */
function longest(labels: readonly string[] | null): number {
  return Math.max(0, ...(labels ?? []).map(({ length }) => length));
}

/** Axis steps of 1, 2 and 5: counts have no fractions. */
const wholeSteps = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Range of the y axis: from zero to just above the max; 0 to 1 if all values are zero. */
function yRange(_: uPlot, __: number, max: number): uPlot.Range.MinMax {
  return [0, max > 0 ? max * 1.06 : 1];
}

/**
 * Pointer position in this chart; null for a synced cursor, so that only the chart under the pointer shows
 * its values.
 */
function pointedAt(chart: uPlot): Pointed | null {
  const { idx, left } = chart.cursor;
  if (idx === null || idx === undefined || left === undefined || left < 0 || !chart.over.matches(':hover'))
    return null;
  return { index: idx, left: left + chart.over.offsetLeft, width: chart.width };
}

type Drawn = { readonly values: (number | null)[][]; readonly series: uPlot.Series[] };

/**
 * Stacked bars, drawn as cumulative sums from the tallest down, so that each lower part covers the one
 * before.
 */
function barsOf({ series }: ChartData, colour: (name: string) => string): Drawn {
  const bars = uPlot.paths.bars?.({ size: [0.72, 22], radius: 0.12 });
  const sums = stack(series.map(({ values }) => values));
  const drawn = series.map(({ label, colour: name }, index) => ({
    values: sums[index] ?? [],
    series: { label, fill: colour(name), width: 0, points: { show: false }, ...(bars && { paths: bars }) },
  }));
  const fromTop = drawn.toReversed();
  return { values: fromTop.map(({ values }) => values), series: fromTop.map((one) => one.series) };
}

function linesOf({ series }: ChartData, colour: (name: string) => string): Drawn {
  return {
    values: series.map(({ values }) => [...values]),
    series: series.map(({ label, colour: name }) => ({
      label,
      stroke: colour(name),
      width: 2,
      spanGaps: false, // no line over a time without a value
      points: { show: true, size: 5, fill: colour(name), stroke: colour(name) },
    })),
  };
}

/** Cumulative sums of the rows, for stacked bars; null counts as zero. */
function stack(rows: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[][] = [];
  for (const row of rows) {
    const below = sums.at(-1);
    sums.push(row.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums;
}

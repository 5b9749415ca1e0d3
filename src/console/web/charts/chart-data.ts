/** Data of one chart: a value for each time in each series. */
export interface ChartData {
  readonly kind: 'bars' | 'lines';
  /** Bars of amounts; otherwise the axis of bars has only whole numbers, as counts need. */
  readonly hasFractions?: boolean;
  /** Start of each bucket, unix seconds. */
  readonly times: readonly number[];
  readonly stepSeconds: number;
  readonly series: readonly ChartSeries[];
}

export interface ChartSeries {
  readonly label: string;
  /** Name of a CSS custom property. */
  readonly colour: string;
  /** Null: no value. */
  readonly values: readonly (number | null)[];
}

/** Series that show something at a time: in lines any value, and in bars none of height 0. */
export function seriesAt({ kind, series }: ChartData, index: number): readonly ChartSeries[] {
  return series.filter(({ values }) => {
    const value = values[index] ?? null;
    return kind === 'lines' ? value !== null : Boolean(value);
  });
}

/** Position of the pointer in a chart. */
export interface Pointed {
  readonly index: number;
  /** Pixels from the chart's left edge. */
  readonly left: number;
  /** Width of the whole chart, in pixels. */
  readonly width: number;
}

/** Max series with a colour of their own. */
export const maxColours = 8;

/** Colour of the n-th series, from 0; below `maxColours`. */
export function seriesColour(index: number): string {
  return `--series-${index + 1}`;
}

/** Colour of the series that sums up all other groups. */
export const otherColour = '--series-other';

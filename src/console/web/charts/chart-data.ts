/** One chart's worth of numbers, a value for each time in each series. */
export interface ChartData {
  readonly kind: 'bars' | 'lines';
  /** When each bucket begins, unix seconds. */
  readonly times: readonly number[];
  readonly stepSeconds: number;
  readonly series: readonly ChartSeries[];
}

export interface ChartSeries {
  readonly label: string;
  /** The name of a CSS custom property. */
  readonly colour: string;
  /** Null where there is none. */
  readonly values: readonly (number | null)[];
}

/** Where the pointer is. */
export interface Pointed {
  readonly index: number;
  /** Pixels from the chart's left edge. */
  readonly left: number;
  /** Of the whole chart. */
  readonly width: number;
}

/** As many series as have a colour of their own. */
export const maxColours = 8;

/** The colour of the n-th series, from 0; below `maxColours`. */
export function seriesColour(index: number): string {
  return `--series-${index + 1}`;
}

/** The colour of all groups that have none of their own. */
export const otherColour = '--series-other';

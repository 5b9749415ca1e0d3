const hourMs = 3_600_000;

/** Usage windows: their lengths, and the steps in which they are sampled. */
export const windows = {
  '5h': { lengthMs: 5 * hourMs, stepMs: 2 * 60_000 },
  '7d': { lengthMs: 7 * 24 * hourMs, stepMs: hourMs / 2 },
} as const;

export type WindowName = keyof typeof windows;

export const windowNames = ['5h', '7d'] as const satisfies readonly WindowName[];
